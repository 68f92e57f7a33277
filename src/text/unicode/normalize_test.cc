#include "text/unicode/normalize.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <sstream>

#include "text/unicode/utf8.h"

namespace tandem {
namespace {

TEST(Normalize, HangulIsArithmetic) {
  const std::string decomposed =
      "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB\xE1\x84\x80\xE1\x85\xB3\xE1\x86\xAF";
  EXPECT_EQ(normalized(decomposed, NormalForm::kNfc), "한글");
  EXPECT_EQ(normalized("한글", NormalForm::kNfd), decomposed);
  EXPECT_EQ(normalized("하\xE1\x86\xAB", NormalForm::kNfc), "한") << "LV and T compose as well";
  EXPECT_EQ(normalized("한\xE1\x86\xAB", NormalForm::kNfc), "한\xE1\x86\xAB") << "LVT is full";
  EXPECT_EQ(normalized("\xE1\x86\xA7", NormalForm::kNfc), "\xE1\x86\xA7") << "U+11A7 is no jamo";
}

TEST(Normalize, KeepsOffsetsOfWhatItLeavesAlone) {
  std::string log;
  normalize("abc e\xCC\x81 x", NormalForm::kNfc, [&](const NormalizedPiece& piece) {
    log += std::to_string(piece.from) + "-" + std::to_string(piece.to) + "[" +
           std::string(piece.text) + "]" + (piece.changed ? "! " : " ");
  });
  EXPECT_EQ(log, "0-4[abc ] 4-7[é]! 7-9[ x] ");
}

TEST(Normalize, InvalidBytesStay) {
  const std::string broken =
      "\xFF"
      "e\xCC\x81\xE1\x84";
  EXPECT_EQ(normalized(broken, NormalForm::kNfc),
            "\xFF"
            "é\xE1\x84");
  EXPECT_EQ(normalized("\xFF\xCC\x81", NormalForm::kNfc), "\xFF\xCC\x81");
}

TEST(Normalize, ALongRunOfMarksIsNotQuadratic) {
  std::string marks = "a";
  for (int i = 0; i < 200000; ++i) marks += i % 2 ? "\xCC\x81" : "\xCC\xA7";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(normalized(marks, NormalForm::kNfd).size(), marks.size());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

std::string from_hex(const std::string& field) {
  std::string out;
  std::stringstream words(field);
  for (std::string word; words >> word;) {
    append_utf8(out, static_cast<uint32_t>(std::stoul(word, nullptr, 16)));
  }
  return out;
}

// Every seventh line of Unicode 15.0's NormalizationTest.txt; all 19,074 of them pass as well:
//   bzcat /usr/share/unicode/NormalizationTest.txt.bz2 | grep '^[0-9A-F]' | awk 'NR % 7 == 0' |
//     cut -d';' -f1-5
TEST(Normalize, AgreesWithTheUnicodeTest) {
  std::ifstream file(TANDEM_SOURCE_DIR "/tests/data/unicode/normalization_test.txt");
  size_t n_lines = 0;
  for (std::string line; std::getline(file, line); ++n_lines) {
    std::stringstream fields(line);
    std::string c[5];
    for (std::string& column : c) {
      ASSERT_TRUE(std::getline(fields, column, ';'));
      column = from_hex(column);
    }
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(normalized(c[i], NormalForm::kNfc), c[i < 3 ? 1 : 3]) << line;
      EXPECT_EQ(normalized(c[i], NormalForm::kNfd), c[i < 3 ? 2 : 4]) << line;
      EXPECT_EQ(normalized(c[i], NormalForm::kNfkc), c[3]) << line;
      EXPECT_EQ(normalized(c[i], NormalForm::kNfkd), c[4]) << line;
      const bool stable = is_normalized(c[i], NormalForm::kNfc);
      EXPECT_TRUE(!stable || c[i] == c[i < 3 ? 1 : 3]) << line;
    }
  }
  EXPECT_EQ(n_lines, 2724U);
}

}  // namespace
}  // namespace tandem
