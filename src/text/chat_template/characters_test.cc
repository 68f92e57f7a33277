#include "text/chat_template/characters.h"

#include <gtest/gtest.h>

#include "text/chat_template/utf8.h"

// Expected values: the same calls in Python 3.11.2 (Unicode 14).

namespace tandem::jinja {
namespace {

TEST(Case, MapsByFullUnicodeRules) {
  EXPECT_EQ(to_upper("straße ŉ ﬁ 안녕 ǆ"), "STRASSE ʼN FI 안녕 Ǆ");
  EXPECT_EQ(to_lower("ΑΣ ΑΣΑ Σ İ"), "ας ασα σ i̇");
  EXPECT_EQ(to_title("hello wORLD it's ǆabc 3rd"), "Hello World It'S ǅabc 3Rd");
  EXPECT_EQ(to_capitalized("ǆABC dEF"), "ǅabc def");
  EXPECT_EQ(to_casefold("Straße ΣΑΣ"), "strasse σασ");
  EXPECT_EQ(to_swapped_case("aBcß"), "AbCSS");
}

TEST(Classes, FollowPython) {
  EXPECT_TRUE(is_alpha(U'한'));
  EXPECT_TRUE(is_space(0x3000));
  EXPECT_FALSE(is_space(0x200B));
  EXPECT_TRUE(is_digit(U'²'));
  EXPECT_FALSE(is_decimal(U'²'));
  EXPECT_TRUE(is_numeric(U'½'));
  EXPECT_FALSE(is_printable(0x00AD));
  EXPECT_TRUE(is_title(U'ǅ'));
  EXPECT_EQ(decimal_value(U'٣'), 3);
  EXPECT_EQ(decimal_value(0x1D7D8), 0);
  EXPECT_EQ(decimal_value(U'²'), -1);
}

TEST(Trim, TakesUnicodeSpace) {
  EXPECT_EQ(trim_end("가 \u3000\n"), "가");
  EXPECT_EQ(trim_start("\u00a0\t 나"), "나");
  EXPECT_EQ(trim_end(" \n"), "");
}

TEST(Utf8, FindsTheFirstInvalidByte) {
  EXPECT_EQ(find_invalid_utf8("a가🙂"), std::string_view::npos);
  EXPECT_EQ(find_invalid_utf8("ab\xff"), 2u);
  EXPECT_EQ(find_invalid_utf8("가\xea\xb0"), 3u);
  EXPECT_EQ(find_invalid_utf8("\xc0\x80"), 0u);          // overlong
  EXPECT_EQ(find_invalid_utf8("\xed\xa0\x80"), 0u);      // surrogate
  EXPECT_EQ(find_invalid_utf8("\xf4\x90\x80\x80"), 0u);  // past U+10FFFF
}

TEST(Utf8, CountsCodePoints) {
  EXPECT_EQ(count_code_points("a가🙂"), 3u);
  EXPECT_EQ(byte_offset("a가🙂", 2), 4u);
  EXPECT_EQ(byte_offset("a가", 9), 4u);
  EXPECT_EQ(previous_offset("a가", 4), 1u);
  std::string text;
  for (const char32_t c : to_code_points("é가🙂")) append_utf8(text, c);
  EXPECT_EQ(text, "é가🙂");
}

}  // namespace
}  // namespace tandem::jinja
