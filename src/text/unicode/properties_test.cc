#include "text/unicode/properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tandem {
namespace {

size_t count(const CharRanges& ranges) {
  size_t n = 0;
  for (const CharRange& range : ranges) n += range.last - range.first + 1;
  return n;
}

// Sizes of the sets in Oniguruma 6.9.10 as the Rust tokenizers 0.22.2 use it: the number of code
// points that a Split on the property removes.
TEST(Properties, SetsHaveTheSizeThatTheReferenceMatchesWith) {
  EXPECT_EQ(count(property_ranges("L")), 141028U);
  EXPECT_EQ(count(property_ranges("N")), 1911U);
  EXPECT_EQ(count(property_ranges("M")), 2501U);
  EXPECT_EQ(count(property_ranges("P")), 855U);
  EXPECT_EQ(count(property_ranges("S")), 8514U);
  EXPECT_EQ(count(property_ranges("Lu")), 1858U);
  EXPECT_EQ(count(property_ranges("Ll")), 2258U);
  EXPECT_EQ(count(property_ranges("Nd")), 760U);
  EXPECT_EQ(count(property_ranges("White_Space")), 25U);
  EXPECT_EQ(count(property_ranges("Han")), 99030U);
  EXPECT_TRUE(property_ranges("NoSuchProperty").empty());
}

TEST(Properties, CategoriesIncludeSupplementaryPlanesAndFullWidthForms) {
  EXPECT_EQ(general_category(0x20BB7), GeneralCategory::kOtherLetter);      // 𠮷
  EXPECT_EQ(general_category(0xFF13), GeneralCategory::kDecimalNumber);     // ３
  EXPECT_EQ(general_category(0xFF01), GeneralCategory::kOtherPunctuation);  // ！
  EXPECT_EQ(general_category(0x1F600), GeneralCategory::kOtherSymbol);      // 😀
  EXPECT_EQ(general_category(0xAC00), GeneralCategory::kOtherLetter);       // 가
  EXPECT_EQ(general_category(0x10FFFF), GeneralCategory::kUnassigned);
  EXPECT_EQ(general_category(0x110000), GeneralCategory::kUnassigned);
}

TEST(Properties, WhiteSpaceIsTheUnicodeProperty) {
  for (const uint32_t c : {0x20, 0x0A, 0x0B, 0x85, 0xA0, 0x1680, 0x2028, 0x3000}) {
    EXPECT_TRUE(is_white_space(c)) << c;
  }
  for (const uint32_t c : {0x1F, 0x200B, 0xFEFF, 0x41}) EXPECT_FALSE(is_white_space(c)) << c;
}

TEST(Properties, CaseHasItsOddOnes) {
  EXPECT_EQ(simple_lowercase('Q'), uint32_t{'q'});
  EXPECT_EQ(simple_lowercase(0x1E9E), 0xDFU);  // ẞ
  EXPECT_EQ(simple_lowercase(0xAC00), 0xAC00U);
  EXPECT_THAT(case_variants('s'), testing::UnorderedElementsAre('S', 0x17F));   // ſ
  EXPECT_THAT(case_variants('k'), testing::UnorderedElementsAre('K', 0x212A));  // Kelvin
}

TEST(Properties, SetAlgebra) {
  const CharRanges digits = {{'0', '9'}};
  const CharRanges low = {{'0', '4'}};
  EXPECT_EQ(intersect(digits, complement(low)), (CharRanges{{'5', '9'}}));
  EXPECT_EQ(unite(low, {{'5', '9'}}), digits) << "neighbours join";
  EXPECT_EQ(complement(complement(digits)), digits);
  EXPECT_TRUE(intersect(low, {{'a', 'z'}}).empty());
}

}  // namespace
}  // namespace tandem
