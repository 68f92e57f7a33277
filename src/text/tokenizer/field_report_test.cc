#include <gtest/gtest.h>

#include <chrono>

#include "text/tokenizer/test_metadata.h"

// What other runtimes got wrong, each named after its row in the corpus of field reports. B06 and
// B07 are in streaming_detokenizer_test.cc, J03 in json_tokenizer_test.cc, J05 in
// pre_tokenizer_test.cc.

namespace tandem {
namespace {

TEST(TokenizerFieldReports, B01DigitsSplitAsTheNamedPreTokenizerSays) {
  const std::vector<std::string> merges = {"2 0", "20 4", "8 1", "81 0", "204 810",
                                           "0 2", "1 0",  "2 4", "4 8"};
  const auto llama3 = make_tokenizer(byte_level_metadata("llama-bpe", merges));
  EXPECT_EQ(pieces(*llama3, "id 20481024"), "i|d| |204|810|24");
  const auto qwen2 = make_tokenizer(byte_level_metadata("qwen2", merges));
  EXPECT_EQ(pieces(*qwen2, "id 20481024"), "i|d| |2|0|4|8|1|0|2|4");
}

TEST(TokenizerFieldReports, B01AnUnknownPreTokenizerIsAnErrorThatListsTheKnownOnes) {
  const auto tokenizer = Tokenizer::from_metadata(byte_level_metadata("no-such-type", {}));
  ASSERT_FALSE(tokenizer);
  EXPECT_EQ(tokenizer.error().code, ErrorCode::kUnsupported);
  for (const char* part : {"no-such-type", "qwen2", "llama-bpe", "exaone4", "test.gguf"}) {
    EXPECT_NE(tokenizer.error().message.find(part), std::string::npos) << part;
  }
  TokenizerOptions options;
  options.pre_override = "qwen2";
  EXPECT_TRUE(Tokenizer::from_metadata(byte_level_metadata("no-such-type", {}), options));
}

TEST(TokenizerFieldReports, B01AMissingPreTokenizerIsAVisibleWarning) {
  std::vector<std::string> warnings;
  TokenizerOptions options;
  options.log = [&](LogLevel level, std::string_view message) {
    if (level == LogLevel::kWarning) warnings.emplace_back(message);
  };
  EXPECT_NE(make_tokenizer(byte_level_metadata("", {}), options), nullptr);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("tokenizer.ggml.pre"), std::string::npos);
  warnings.clear();
  EXPECT_NE(make_tokenizer(byte_level_metadata("gpt-2", {}), options), nullptr);
  EXPECT_TRUE(warnings.empty());
}

Metadata user_vocabulary() {
  return sentencepiece_metadata({{"<|start|>", 0, 3},
                                 {"▁user", -1},
                                 {"user", -2},
                                 {"▁", -9},
                                 {"u", -9},
                                 {"s", -9},
                                 {"e", -9},
                                 {"r", -9},
                                 {"us", -8},
                                 {"er", -8},
                                 {"▁us", -7}});
}

TEST(TokenizerFieldReports, B02ThePrefixSpaceGoesOnlyBeforeTextThatBeginsTheInput) {
  const auto tokenizer = make_tokenizer(user_vocabulary());
  const EncodeOptions options{.add_special = false, .parse_special = true};
  EXPECT_EQ(pieces(*tokenizer, "user", options), " user");
  EXPECT_EQ(pieces(*tokenizer, "<|start|>user", options), "<|start|>|user");
  Metadata without = user_vocabulary();
  without.set("tokenizer.ggml.add_space_prefix", false);
  EXPECT_EQ(pieces(*make_tokenizer(without), "user", options), "user");
}

TEST(TokenizerFieldReports, B02DecodingTakesOnlyThatOneSpaceAway) {
  const auto tokenizer = make_tokenizer(user_vocabulary());
  for (const char* text : {"user", " user", "  user", "user user"}) {
    EXPECT_EQ(tokenizer->decode(*tokenizer->encode(text)), text);
  }
  const std::vector<TokenId> continued = {260};
  EXPECT_EQ(tokenizer->decode(continued, {.begins_text = false}), " user");
}

TEST(TokenizerFieldReports, B04InvalidUtf8ComesBackByteForByte) {
  const auto bytes = make_tokenizer(byte_level_metadata("qwen2", {"a b"}));
  const auto score = make_tokenizer(user_vocabulary());
  for (const std::string& text : {std::string("\xE6\xAD"), std::string("\x61\xFF\x62"),
                                  std::string("a\xC2\xA0"
                                              "b"),
                                  std::string("a\0b", 3), std::string("\xED\xA0\x80")}) {
    EXPECT_EQ(joined_bytes(*bytes, *bytes->encode(text)), text);
    EXPECT_EQ(joined_bytes(*score, *score->encode(text, {.add_special = false})), " " + text);
  }
}

TEST(TokenizerFieldReports, B08ExactlyOneBosWhereTheTextAlreadyWroteIt) {
  Metadata metadata = byte_level_metadata("llama-bpe", {}, {"<|begin_of_text|>"});
  metadata.set("tokenizer.ggml.bos_token_id", uint32_t{256});
  metadata.set("tokenizer.ggml.add_bos_token", true);
  const auto tokenizer = make_tokenizer(metadata);
  const EncodeOptions chat{.add_special = true, .parse_special = true};
  EXPECT_EQ(pieces(*tokenizer, "a", chat), "<|begin_of_text|>|a");
  EXPECT_EQ(pieces(*tokenizer, "<|begin_of_text|>a", chat), "<|begin_of_text|>|a");
  EXPECT_TRUE(tokenizer->adds_bos());
}

TEST(TokenizerFieldReports, B08NoBosAtAllWhenTheFileHasNone) {
  for (const char* pre : {"gpt-2", "llama-bpe", "tekken"}) {
    const auto tokenizer = make_tokenizer(byte_level_metadata(pre, {}));
    EXPECT_FALSE(tokenizer->bos()) << pre;
    EXPECT_FALSE(tokenizer->adds_bos()) << pre;
    EXPECT_EQ(pieces(*tokenizer, "a", {}), "a") << pre;
  }
}

TEST(TokenizerFieldReports, B09EveryEndTokenEndsGeneration) {
  Metadata metadata = byte_level_metadata("qwen2", {}, {"<|endoftext|>", "<|im_end|>", "<|x|>"});
  metadata.set("tokenizer.ggml.eos_token_id", uint32_t{7});
  TokenizerOptions options;
  options.extra_end_ids = {7, 9, -1, 100000};
  const auto tokenizer = make_tokenizer(metadata, options);
  const auto ends = tokenizer->end_of_generation();
  EXPECT_EQ(std::vector<TokenId>(ends.begin(), ends.end()), (std::vector<TokenId>{7, 9, 256, 257}));
  EXPECT_TRUE(tokenizer->is_end_of_generation(257));
  EXPECT_FALSE(tokenizer->is_end_of_generation(258)) << "an ordinary control token";
  EXPECT_FALSE(tokenizer->is_end_of_generation(-5));
}

TEST(TokenizerFieldReports, B09HarmonysEndOfMessageDoesNotEndTheReply) {
  const auto tokenizer =
      make_tokenizer(byte_level_metadata("gpt-4o", {}, {"<|return|>", "<|call|>", "<|end|>"}));
  EXPECT_TRUE(tokenizer->is_end_of_generation(256));
  EXPECT_TRUE(tokenizer->is_end_of_generation(257));
  EXPECT_FALSE(tokenizer->is_end_of_generation(258));
}

TEST(TokenizerFieldReports, ControlTokensInUserTextStayText) {
  const auto tokenizer = make_tokenizer(byte_level_metadata("qwen2", {}, {"<|im_end|>"}));
  EXPECT_EQ(pieces(*tokenizer, "<|im_end|>"), "<|||i|m|_|e|n|d|||>");
  EXPECT_EQ(pieces(*tokenizer, "<|im_end|>", {.add_special = false, .parse_special = true}),
            "<|im_end|>");
  const auto score = make_tokenizer(user_vocabulary());
  const auto ids = score->encode("<s></s><unk><0x41>", {.add_special = false});
  for (const TokenId id : *ids) EXPECT_FALSE(score->is_control(id));
  EXPECT_EQ(joined_bytes(*score, *ids), " <s></s><unk><0x41>");
}

TEST(TokenizerFieldReports, OneMegabyteOfOneLetterOrEmojiTakesUnderASecond) {
  std::vector<std::string> merges;
  for (std::string a = "a"; a.size() <= 64; a += a) merges.push_back(a + " " + a);
  const auto tokenizer = make_tokenizer(byte_level_metadata("qwen2", merges));
  std::string emoji;
  while (emoji.size() < 1000000) emoji += "😀";
  for (const std::string& text : {std::string(1000000, 'a'), emoji, std::string(1000000, ' '),
                                  std::string(1000000, '\n'), std::string(1000000, '1')}) {
    const auto begin = std::chrono::steady_clock::now();
    const auto ids = tokenizer->encode(text);
    const auto took = std::chrono::steady_clock::now() - begin;
    ASSERT_TRUE(ids);
    EXPECT_EQ(joined_bytes(*tokenizer, *ids), text);
    // A quadratic merge would take hours; the bound leaves room for sanitizers and busy machines.
    EXPECT_LT(took, std::chrono::seconds(20));
  }
}

}  // namespace
}  // namespace tandem
