#include "text/reply/reply_format.h"

#include <gmock/gmock.h>

#include <set>

namespace tandem {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(ReplyFormat, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const ReplyFormat& format : reply_formats()) {
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    const auto found = find_reply_format(format.name);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->name, format.name);
  }
}

TEST(ReplyFormat, AnUnknownNameListsTheKnownOnes) {
  const auto result = find_reply_format("qwen9");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(result.error().message, HasSubstr("'qwen9'"));
  EXPECT_THAT(result.error().message, HasSubstr("hermes, qwen3_coder, "));
}

// The templates of round_trip_test.cc show the rest; these are not among them.
TEST(ReplyFormat, IsFoundByTheMarkersOfATemplate) {
  EXPECT_EQ(detect_reply_format("").name, "plain");
  EXPECT_EQ(detect_reply_format("{{ messages }}").name, "plain");
  EXPECT_EQ(detect_reply_format("<|im_start|>{{ m.role }}").name, "hermes");
  EXPECT_EQ(detect_reply_format("'<start_function_call>call:'").name, "function_gemma");
  EXPECT_EQ(detect_reply_format("<|system|>...<|tool|>{{ tools }}<|/tool|>").name, "phi");
  EXPECT_EQ(detect_reply_format("]<]minimax[>[ <tool_call>").name, "plain");
  EXPECT_EQ(detect_reply_format("[INST] {{ x }} [/INST]").name, "mistral");
}

TEST(ReplyFormat, PromptThatOpensReasoning) {
  const ReplyFormat hermes = *find_reply_format("hermes");
  EXPECT_TRUE(prompt_opens_reasoning(hermes, "<|im_start|>assistant\n<think>\n"));
  EXPECT_FALSE(prompt_opens_reasoning(hermes, "<|im_start|>assistant\n<think>\n\n</think>\n\n"));
  EXPECT_FALSE(prompt_opens_reasoning(hermes, "<|im_start|>assistant\n"));
  EXPECT_FALSE(prompt_opens_reasoning(*find_reply_format("harmony"), "<|start|>assistant"));
}

TEST(ReplyFormat, MarkersThatMustBePrinted) {
  const auto mistral = reply_markers(*find_reply_format("mistral"));
  EXPECT_THAT(mistral, Contains("[TOOL_CALLS]"));
  EXPECT_THAT(mistral, Contains("[ARGS]"));
  EXPECT_THAT(mistral, Not(Contains("")));
  EXPECT_THAT(reply_markers(*find_reply_format("harmony")), Contains("<|message|>"));
}

}  // namespace
}  // namespace tandem
