#include "engine/script_constraint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "text/tokenizer/test_metadata.h"
#include "text/unicode/utf8.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

constexpr TokenId kEnd = 256;

/// Every byte, and an end token.
const Tokenizer& bytes() {
  static const auto tokenizer = make_tokenizer(byte_level_metadata("gpt-2", {}, {"<|endoftext|>"}));
  return *tokenizer;
}

std::unique_ptr<ScriptConstraint> only(const Tokenizer& tokenizer,
                                       const std::vector<std::string>& scripts) {
  auto constraint = ScriptConstraint::create(tokenizer, scripts);
  EXPECT_TRUE(constraint) << constraint.error().message;
  return std::move(*constraint);
}

bool may_come(ScriptConstraint& constraint, const Tokenizer& tokenizer, TokenId token) {
  std::vector<float> logits(static_cast<size_t>(tokenizer.n_tokens()), 1.0f);
  EXPECT_TRUE(constraint.mask(logits));
  return logits[static_cast<size_t>(token)] == 1.0f;
}

void feed(ScriptConstraint& constraint, std::string_view text) {
  for (const char byte : text) {
    const auto outcome = constraint.accept(static_cast<uint8_t>(byte));
    ASSERT_TRUE(outcome) << outcome.error().message;
  }
}

/// Byte-level merges that build `text` as one token, from left to right.
std::vector<std::string> merges_of(const std::string& text) {
  std::vector<std::string> merges;
  std::string left = spelled_byte(static_cast<uint8_t>(text[0]));
  for (size_t i = 1; i < text.size(); ++i) {
    const std::string right = spelled_byte(static_cast<uint8_t>(text[i]));
    merges.push_back(left + " " + right);
    left += right;
  }
  return merges;
}

// Field report J04: a token for 學 has the top logit, 학 the second.
TEST(ScriptConstraint, J04MasksTokensOfOtherScripts) {
  std::vector<std::string> merges = merges_of("學");
  for (const std::string& merge : merges_of("학")) merges.push_back(merge);
  const auto tokenizer = make_tokenizer(byte_level_metadata("gpt-2", merges, {"<|endoftext|>"}));
  const TokenId hanja = *tokenizer->find("學"), hangul = *tokenizer->find("학");
  const auto constraint = only(*tokenizer, {"Hangul", "Latin"});
  EXPECT_FALSE(may_come(*constraint, *tokenizer, hanja));
  EXPECT_TRUE(may_come(*constraint, *tokenizer, hangul));
  for (const char* text : {"1", ".", " ", "\n", "a", "{", "\""}) {
    EXPECT_TRUE(may_come(*constraint, *tokenizer, *tokenizer->find(text))) << text;
  }
  EXPECT_TRUE(may_come(*constraint, *tokenizer, *tokenizer->find("<|endoftext|>")));
  EXPECT_THAT(constraint->accept(hanja).error().message, HasSubstr("not allowed"));
  EXPECT_TRUE(constraint->accept(hangul));
}

TEST(ScriptConstraint, JudgesCharactersSpelledByByteTokens) {
  const auto constraint = only(bytes(), {"Hangul"});
  EXPECT_FALSE(may_come(*constraint, bytes(), 0xE5)) << "U+5000 to U+5FFF are all Han";
  EXPECT_TRUE(may_come(*constraint, bytes(), 0xED)) << "U+D000 to U+D7FF hold Hangul";
  feed(*constraint, "\xE3");
  EXPECT_TRUE(may_come(*constraint, bytes(), 0x80)) << "ideographic space and CJK punctuation";
  EXPECT_FALSE(may_come(*constraint, bytes(), 0x90)) << "U+3400 on: Han, extension A";
  EXPECT_TRUE(may_come(*constraint, bytes(), '1')) << "the broken character is shown as U+FFFD";
  EXPECT_TRUE(may_come(*constraint, bytes(), kEnd));
  constraint->reset();
  feed(*constraint, "\xF0");
  EXPECT_FALSE(may_come(*constraint, bytes(), 0xA0)) << "U+20000 on: Han, extension B";
  EXPECT_TRUE(may_come(*constraint, bytes(), 0x9F)) << "emoji";
}

TEST(ScriptConstraint, NoWalkOverByteTokensWritesAnotherScript) {
  const auto constraint = only(bytes(), {"Hangul", "Latin"});
  std::mt19937 random(1);
  std::vector<TokenId> written;
  std::vector<float> logits(257);
  for (int i = 0; i < 20000; ++i) {
    std::fill(logits.begin(), logits.end(), 0.0f);
    ASSERT_TRUE(constraint->mask(logits));
    // Continuations and lead bytes most often, so that many characters become whole.
    TokenId token;
    do {
      const uint32_t kind = random() % 8;
      token = static_cast<TokenId>(kind < 5   ? 0x80 + random() % 64
                                   : kind < 7 ? 0xE0 + random() % 16
                                              : random() % 256);
    } while (std::isinf(logits[static_cast<size_t>(token)]));
    ASSERT_TRUE(constraint->accept(token));
    written.push_back(token);
  }
  const CharSet allowed(unite(unite(script_ranges("Common"), script_ranges("Inherited")),
                              unite(script_ranges("Hangul"), script_ranges("Latin"))));
  const std::string text = bytes().decode(written);
  size_t n_hangul = 0;
  const CharSet hangul(script_ranges("Hangul"));
  for (size_t at = 0; at < text.size();) {
    const DecodedChar next = decode_utf8(text, at);
    ASSERT_TRUE(allowed.contains(next.code_point)) << std::hex << next.code_point;
    n_hangul += hangul.contains(next.code_point);
    at += next.length;
  }
  EXPECT_GT(n_hangul, 100u);
}

TEST(ScriptConstraint, NamesAreTakenInAnyCaseAndUnknownOnesAreListed) {
  EXPECT_TRUE(ScriptConstraint::create(bytes(), std::vector<std::string>{"hangul", "LATIN"}));
  const auto outcome = ScriptConstraint::create(bytes(), std::vector<std::string>{"Klingon"});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(outcome.error().message, HasSubstr("\"Klingon\" is no known script"));
  EXPECT_THAT(outcome.error().message, HasSubstr("Hangul, Hebrew"));
}

}  // namespace
}  // namespace tandem
