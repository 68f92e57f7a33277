#include <gtest/gtest.h>

#include <limits>

#include "text/tokenizer/test_metadata.h"

namespace tandem {
namespace {

void expect_error(const Metadata& metadata, ErrorCode code, const std::string& part) {
  const auto tokenizer = Tokenizer::from_metadata(metadata);
  ASSERT_FALSE(tokenizer) << part;
  EXPECT_EQ(tokenizer.error().code, code) << tokenizer.error().message;
  EXPECT_NE(tokenizer.error().message.find(part), std::string::npos) << tokenizer.error().message;
  EXPECT_NE(tokenizer.error().message.find("test.gguf"), std::string::npos);
}

Metadata small() { return byte_level_metadata("gpt-2", {"a b"}); }

// Field report A05 ii: the file loads with a warning, and the lowest id is the one used.
TEST(GgufTokenizer, A05DuplicateTokensWarnAndTheLowestIdWins) {
  std::vector<std::string> warnings;
  TokenizerOptions options;
  options.log = [&](LogLevel, std::string_view message) { warnings.emplace_back(message); };
  const auto tokenizer = make_tokenizer(byte_level_metadata("gpt-2", {"a b", "a b"}), options);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("256 and 257"), std::string::npos) << warnings[0];
  EXPECT_EQ(*tokenizer->encode("ab"), (std::vector<TokenId>{256}));
}

TEST(GgufTokenizer, A05NarrowScoresAreAnErrorNotAnOverread) {
  Metadata metadata = sentencepiece_metadata({});
  metadata.set("tokenizer.ggml.scores", std::vector<int8_t>(259, 0));
  expect_error(metadata, ErrorCode::kCorruptFile, "tokenizer.ggml.scores");
  metadata = small();
  metadata.set("tokenizer.ggml.token_type", std::vector<uint8_t>(257, 1));
  expect_error(metadata, ErrorCode::kCorruptFile, "tokenizer.ggml.token_type");
}

TEST(GgufTokenizer, A05ArraysOfAnotherLengthAreErrors) {
  Metadata metadata = sentencepiece_metadata({});
  metadata.set("tokenizer.ggml.scores", std::vector<float>(258, 0));
  expect_error(metadata, ErrorCode::kCorruptFile, "258 entries for 259 tokens");
  metadata = small();
  metadata.set("tokenizer.ggml.token_type", std::vector<int32_t>(3, 1));
  expect_error(metadata, ErrorCode::kCorruptFile, "3 entries for 257 tokens");
}

TEST(GgufTokenizer, ChecksWhatItReads) {
  Metadata metadata = small();
  metadata.set("tokenizer.ggml.token_type", std::vector<int32_t>(257, 9));
  expect_error(metadata, ErrorCode::kCorruptFile, "token_type[0] is 9");
  metadata = small();
  metadata.set("tokenizer.ggml.eos_token_id", uint32_t{257});
  expect_error(metadata, ErrorCode::kCorruptFile, "eos_token_id is 257");
  metadata = small();
  metadata.set("tokenizer.ggml.merges", std::vector<std::string>{"ab"});
  expect_error(metadata, ErrorCode::kCorruptFile, "merges[0]");
  metadata.set("tokenizer.ggml.merges", std::vector<std::string>{"a c"});
  expect_error(metadata, ErrorCode::kCorruptFile, "names a piece that is no token");
  metadata.set("tokenizer.ggml.merges", uint32_t{1});
  expect_error(metadata, ErrorCode::kCorruptFile, "not an array of strings");
  metadata = small();
  metadata.set("tokenizer.ggml.tokens", std::vector<std::string>{});
  expect_error(metadata, ErrorCode::kCorruptFile, "0 entries");
  metadata = small();
  metadata.set("tokenizer.ggml.model", std::string("bert"));
  expect_error(metadata, ErrorCode::kUnsupported, "known are gpt2");
  expect_error(Metadata("test.gguf"), ErrorCode::kNotFound, "tokenizer.ggml.model");
  metadata = sentencepiece_metadata({{"x", std::numeric_limits<float>::quiet_NaN()}});
  expect_error(metadata, ErrorCode::kCorruptFile, "scores[259] is nan");
}

TEST(GgufTokenizer, AnOddPaddingIdIsNoReasonToRefuse) {
  Metadata metadata = small();
  metadata.set("tokenizer.ggml.padding_token_id", std::numeric_limits<uint32_t>::max());
  EXPECT_FALSE(make_tokenizer(metadata)->pad());
}

TEST(GgufTokenizer, AddsBosAndEosAsTheFileAsks) {
  Metadata metadata = sentencepiece_metadata({{"▁a", -1}, {"a", -2}, {"▁", -3}});
  EXPECT_EQ(pieces(*make_tokenizer(metadata), "a", {}), "<s>| a") << "SentencePiece's default";
  metadata.set("tokenizer.ggml.add_bos_token", false);
  metadata.set("tokenizer.ggml.add_eos_token", true);
  const auto tokenizer = make_tokenizer(metadata);
  EXPECT_EQ(pieces(*tokenizer, "a", {}), " a|</s>");
  EXPECT_EQ(pieces(*tokenizer, "", {}), "</s>");
  EXPECT_TRUE(tokenizer->adds_eos());
  EXPECT_FALSE(tokenizer->adds_bos());
}

TEST(GgufTokenizer, UserDefinedTokensAreFoundBeforeAnythingElse) {
  Metadata metadata = byte_level_metadata("gpt-2", {"< t"}, {"<t>"});
  std::vector<int32_t> types(258, 1);
  types[257] = 4;
  metadata.set("tokenizer.ggml.token_type", types);
  const auto tokenizer = make_tokenizer(metadata);
  EXPECT_EQ(*tokenizer->encode("<t>"), (std::vector<TokenId>{257}));
  EXPECT_FALSE(tokenizer->is_control(257));
}

TEST(GgufTokenizer, FindsTokensByTheirBytes) {
  const auto tokenizer = make_tokenizer(byte_level_metadata("gpt-2", {"Ġ a"}, {"<c>"}));
  EXPECT_EQ(tokenizer->find(" a"), 256);
  EXPECT_EQ(tokenizer->find("<c>"), 257);
  EXPECT_EQ(tokenizer->find("\n"), 10);
  EXPECT_FALSE(tokenizer->find("no such token"));
  EXPECT_FALSE(tokenizer->find(""));
  EXPECT_EQ(tokenizer->piece_bytes(-1), "");
  EXPECT_EQ(tokenizer->piece_bytes(258), "");
}

TEST(GgufTokenizer, OffsetsNameTheBytesOfEachToken) {
  Metadata metadata = sentencepiece_metadata({{"▁a", -1}, {"a", -2}, {"▁", -3}});
  const auto spans = make_tokenizer(metadata)->encode_with_offsets("a▁a한");
  ASSERT_TRUE(spans);
  std::string log;
  for (const TokenSpan& span : *spans) {
    log += std::to_string(span.begin) + "-" + std::to_string(span.end) + " ";
  }
  EXPECT_EQ(log, "0-0 0-1 1-5 5-6 6-7 7-8 ") << "a literal marker counts as a space";
}

// Scores of the unigram example in SentencePiece's own tests.
TEST(GgufTokenizer, UnigramTakesTheBestPath) {
  Metadata metadata = sentencepiece_metadata(
      {{"a", 0}, {"b", 0}, {"c", 0}, {"d", 0}, {"cd", 1}, {"ab", 2}, {"abc", 5}, {"abcd", 10}});
  metadata.set("tokenizer.ggml.model", std::string("t5"));
  metadata.set("tokenizer.ggml.add_space_prefix", false);
  metadata.set("tokenizer.ggml.add_eos_token", false);
  const auto tokenizer = make_tokenizer(metadata);
  EXPECT_EQ(pieces(*tokenizer, "abcdacd"), "abcd|a|cd");
  EXPECT_EQ(pieces(*tokenizer, "aXYb"), "a|<unk>|b") << "unknown characters fuse";
}

}  // namespace
}  // namespace tandem
