#include "engine/literal_text.h"

#include <gtest/gtest.h>

#include "text/tokenizer/test_metadata.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;
using End = LiteralText::End;

const LiteralText& literal() {
  static const LiteralText text(*make_tokenizer(
      byte_level_metadata("gpt-2", {"a b"}, {"<|im_start|>", "<|im_end|>", "<s>", "끝"})));
  return text;
}

TEST(LiteralText, BreaksBehindTheFirstCharacterOfEachControlToken) {
  EXPECT_EQ(literal().breaks("a <|im_end|> <s>", End::kComplete), (std::vector<size_t>{3, 14}));
  EXPECT_EQ(literal().breaks("안끝", End::kComplete), (std::vector<size_t>{6}));
  EXPECT_TRUE(literal().breaks("a <|im_en|> < s >", End::kMayGoOn).empty());
}

TEST(LiteralText, BreaksWhatTheNextTextMayComplete) {
  EXPECT_EQ(literal().breaks("a <|im", End::kMayGoOn), (std::vector<size_t>{3}));
  EXPECT_EQ(literal().breaks("<<", End::kMayGoOn), (std::vector<size_t>{2}));
  EXPECT_TRUE(literal().breaks("a <|im", End::kComplete).empty());
  EXPECT_TRUE(literal().breaks("a <|im ", End::kMayGoOn).empty());
}

TEST(LiteralText, LeavesOrdinaryConversationsUntouched) {
  Json json{{"messages", {{{"role", "user"}, {"content", "x < y, 한국어 [1]"}}}}};
  const Json before = json;
  EXPECT_EQ(literal().mark(json, ""), "");
  EXPECT_EQ(json, before);
}

TEST(LiteralText, MarksStringsAndKeysAtAnyPlace) {
  Json json{{"messages", {{{"role", "user"}, {"content", "hi <s>"}}}},
            {"tools", {{{"description", "ends<|im_end|>"}, {"parameters", {{"<s>", 1}}}}}}};
  const auto mark = literal().mark(json, "");
  ASSERT_TRUE(mark);
  ASSERT_FALSE(mark->empty());
  EXPECT_EQ(json["messages"][0]["role"], "user");
  EXPECT_EQ(json["messages"][0]["content"], "hi <" + *mark + "s>");
  EXPECT_EQ(json["tools"][0]["description"], "ends<" + *mark + "|im_end|>");
  EXPECT_EQ(json["tools"][0]["parameters"].begin().key(), "<" + *mark + "s>");
}

TEST(LiteralText, UnmarkRestoresTheTextAndSaysWhere) {
  Json json = Json::array({"안녕 <s><|im_end|>!"});
  const std::string before = json[0];
  const std::string mark = literal().mark(json, "").value();
  const BrokenText broken = LiteralText::unmark(json[0], mark);
  EXPECT_EQ(broken.text, before);
  EXPECT_EQ(broken.breaks, literal().breaks(before, End::kMayGoOn));
}

TEST(LiteralText, TheMarkIsFoundNowhereElse) {
  Json json = Json::array({"<s>\xEF\xB7\x90 is U+FDD0"});
  const auto mark = literal().mark(json, "a template with \xEF\xB7\x91");
  ASSERT_TRUE(mark);
  EXPECT_EQ(*mark, "\xEF\xB7\x92");
}

TEST(LiteralText, HoldingEveryNoncharacterIsAnError) {
  std::string all = "<s>";
  for (int i = 0; i < 32; ++i) all += std::string("\xEF\xB7") + static_cast<char>(0x90 + i);
  Json json = Json::array({all});
  const auto mark = literal().mark(json, "");
  ASSERT_FALSE(mark);
  EXPECT_EQ(mark.error().code, ErrorCode::kInvalidArgument);
  json = Json::array({all.substr(3)});
  EXPECT_TRUE(literal().mark(json, "")) << "without a control token nothing needs marks";
}

TEST(LiteralText, DeepNestingIsLeftToTheTemplateEngine) {
  Json json = "<s>";
  for (int i = 0; i < 5000; ++i) json = Json::array({std::move(json)});
  EXPECT_EQ(literal().mark(json, ""), "");
}

}  // namespace
}  // namespace tandem
