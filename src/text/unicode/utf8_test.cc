#include "text/unicode/utf8.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

std::string replaced(std::string_view bytes) {
  std::string out;
  append_valid_utf8(out, bytes);
  return out;
}

TEST(Utf8, DecodesEachLengthAndItsLimits) {
  const std::pair<std::string_view, uint32_t> cases[] = {{"A", 0x41},
                                                         {"\xC2\x80", 0x80},
                                                         {"\xDF\xBF", 0x7FF},
                                                         {"가", 0xAC00},
                                                         {"\xE0\xA0\x80", 0x800},
                                                         {"\xED\x9F\xBF", 0xD7FF},
                                                         {"😀", 0x1F600},
                                                         {"\xF0\x90\x80\x80", 0x10000},
                                                         {"\xF4\x8F\xBF\xBF", 0x10FFFF}};
  for (const auto& [bytes, code_point] : cases) {
    const DecodedChar c = decode_utf8(bytes, 0);
    EXPECT_EQ(c.code_point, code_point);
    EXPECT_EQ(c.length, bytes.size());
    std::string back;
    append_utf8(back, code_point);
    EXPECT_EQ(back, bytes);
  }
}

TEST(Utf8, RefusesWhatTheStandardCallsIllFormed) {
  for (const std::string_view bytes :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xE6\xAD"}) {
    EXPECT_EQ(decode_utf8(bytes, 0).code_point, kInvalidByte);
    EXPECT_EQ(decode_utf8(bytes, 0).length, 1U);
    EXPECT_FALSE(is_valid_utf8(bytes));
  }
}

// Expected counts after the WHATWG Encoding Standard; python3: bytes.decode(errors="replace").
TEST(Utf8, ReplacesEachMaximalPartByOneMark) {
  EXPECT_EQ(replaced("a\xFF"
                     "b"),
            "a�b");
  EXPECT_EQ(replaced("\xF0\x9F\xA6"), "�");
  EXPECT_EQ(replaced("\xF0\x9F\xA6\xF0\x9F\xA6\x9C"), "�🦜");
  EXPECT_EQ(replaced("\xED\xA0\x80"), "���");
  EXPECT_EQ(replaced("\xC0\x80"), "��");
  EXPECT_EQ(replaced("\xE1\x80\xC0"), "��");
  EXPECT_EQ(replaced("\xF4\x90\x80\x80"), "����");
  EXPECT_EQ(replaced("한글"), "한글");
}

TEST(Utf8, IncompleteSuffixIsOnlyWhatCouldStillBecomeACharacter) {
  EXPECT_EQ(incomplete_utf8_suffix(""), 0U);
  EXPECT_EQ(incomplete_utf8_suffix("abc"), 0U);
  EXPECT_EQ(incomplete_utf8_suffix("a\xF0\x9F\xA6"), 3U);
  EXPECT_EQ(incomplete_utf8_suffix("a\xF0\x9F"), 2U);
  EXPECT_EQ(incomplete_utf8_suffix("a\xE6"), 1U);
  EXPECT_EQ(incomplete_utf8_suffix("가"), 0U);
  EXPECT_EQ(incomplete_utf8_suffix("\x80\x80"), 0U);
  EXPECT_EQ(incomplete_utf8_suffix("\xED\xA0"), 0U) << "a surrogate never completes";
  EXPECT_EQ(incomplete_utf8_suffix("\xFF"), 0U);
}

}  // namespace
}  // namespace tandem
