#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tandem {

/// Unicode 16.0's General_Category values; the order is that of unicode_tables.cc.
enum class GeneralCategory : uint8_t {
  kUnassigned,
  kUppercaseLetter,
  kLowercaseLetter,
  kTitlecaseLetter,
  kModifierLetter,
  kOtherLetter,
  kNonspacingMark,
  kSpacingMark,
  kEnclosingMark,
  kDecimalNumber,
  kLetterNumber,
  kOtherNumber,
  kConnectorPunctuation,
  kDashPunctuation,
  kOpenPunctuation,
  kClosePunctuation,
  kInitialPunctuation,
  kFinalPunctuation,
  kOtherPunctuation,
  kMathSymbol,
  kCurrencySymbol,
  kModifierSymbol,
  kOtherSymbol,
  kSpaceSeparator,
  kLineSeparator,
  kParagraphSeparator,
  kControl,
  kFormat,
  kSurrogate,
  kPrivateUse,
};

/// Inclusive range of code points.
struct CharRange {
  uint32_t first;
  uint32_t last;
  bool operator==(const CharRange&) const = default;
};
/// Sorted, disjoint and not adjacent.
using CharRanges = std::vector<CharRange>;

GeneralCategory general_category(uint32_t code_point);
bool is_white_space(uint32_t code_point);
/// Lu, Ll, ... as a set of ranges. Also takes the one-letter groups ("L"), "Any", the script names
/// of scripts/generate_unicode_tables.mjs, "White_Space" and "Alphabetic". Empty result: no such
/// property.
CharRanges property_ranges(std::string_view name);

/// The scripts that the tables hold, in alphabetical order.
std::vector<std::string_view> script_names();
/// The characters whose Script property is `name`, in any case; empty: no such script.
CharRanges script_ranges(std::string_view name);

/// The simple lower case mapping; the character itself when it has none.
uint32_t simple_lowercase(uint32_t code_point);
/// Every other character with the same simple case folding.
std::vector<uint32_t> case_variants(uint32_t code_point);

CharRanges unite(const CharRanges& a, const CharRanges& b);
CharRanges intersect(const CharRanges& a, const CharRanges& b);
/// All code points up to U+10FFFF that are not in `a`.
CharRanges complement(const CharRanges& a);

}  // namespace tandem
