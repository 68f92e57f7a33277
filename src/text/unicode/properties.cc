#include "text/unicode/properties.h"

#include <algorithm>
#include <iterator>

#include "text/unicode/unicode_tables.h"

// Look-ups in the generated tables, and the algebra of character sets. The hot paths never come
// here: patterns compile their sets to bitmaps once (text/tokenizer/char_set.h).

namespace tandem {
namespace {

namespace tables = unicode_tables;

constexpr uint32_t kLastCodePoint = 0x10FFFF;

constexpr std::string_view kCategoryNames[] = {
    "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps",
    "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};

CharRanges to_ranges(const tables::CodePointRange* ranges, size_t n) {
  CharRanges out;
  out.reserve(n);
  for (size_t i = 0; i < n; ++i) out.push_back({ranges[i].first, ranges[i].last});
  return out;
}

/// Puts sorted ranges into the canonical form: overlapping and adjacent ones joined.
CharRanges join_sorted(const CharRanges& sorted) {
  CharRanges out;
  for (const CharRange& range : sorted) {
    if (!out.empty() && range.first <= out.back().last + 1) {
      out.back().last = std::max(out.back().last, range.last);
    } else {
      out.push_back(range);
    }
  }
  return out;
}

/// Ranges of the categories whose name begins with `prefix` ("L" or "Lu").
CharRanges category_ranges(std::string_view prefix) {
  CharRanges out;
  for (size_t i = 0; i < tables::category_starts_size; ++i) {
    const uint32_t entry = tables::category_starts[i];
    if (!kCategoryNames[entry & 0xFF].starts_with(prefix)) continue;
    const bool is_last = i + 1 == tables::category_starts_size;
    const uint32_t last = is_last ? kLastCodePoint : (tables::category_starts[i + 1] >> 8) - 1;
    out.push_back({entry >> 8, last});
  }
  return join_sorted(out);
}

}  // namespace

GeneralCategory general_category(uint32_t code_point) {
  if (code_point > kLastCodePoint) return GeneralCategory::kUnassigned;
  const uint32_t* end = tables::category_starts + tables::category_starts_size;
  const uint32_t* after = std::upper_bound(tables::category_starts, end, code_point << 8 | 0xFF);
  return static_cast<GeneralCategory>(after[-1] & 0xFF);
}

bool is_white_space(uint32_t code_point) {
  for (size_t i = 0; i < tables::white_space_size; ++i) {
    if (code_point <= tables::white_space[i].last)
      return code_point >= tables::white_space[i].first;
  }
  return false;
}

CharRanges property_ranges(std::string_view name) {
  if (name == "Any") return {{0, kLastCodePoint}};
  if (name == "White_Space") return to_ranges(tables::white_space, tables::white_space_size);
  if (name == "Alphabetic") return to_ranges(tables::alphabetic, tables::alphabetic_size);
  if (name.size() == 1 || name.size() == 2) return category_ranges(name);
  for (size_t i = 0; i < tables::scripts_size; ++i) {
    const tables::Script& script = tables::scripts[i];
    if (name == script.name) return to_ranges(script.ranges, script.n_ranges);
  }
  return {};
}

std::vector<std::string_view> script_names() {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < tables::scripts_size; ++i) names.push_back(tables::scripts[i].name);
  return names;
}

CharRanges script_ranges(std::string_view name) {
  const auto same = [](char a, char b) { return (a | 0x20) == (b | 0x20); };
  for (size_t i = 0; i < tables::scripts_size; ++i) {
    const tables::Script& script = tables::scripts[i];
    const std::string_view known = script.name;
    if (std::equal(name.begin(), name.end(), known.begin(), known.end(), same)) {
      return to_ranges(script.ranges, script.n_ranges);
    }
  }
  return {};
}

uint32_t simple_lowercase(uint32_t code_point) {
  const tables::CodePointPair* end = tables::lowercase + tables::lowercase_size;
  const auto* found = std::lower_bound(
      tables::lowercase, end, code_point,
      [](const tables::CodePointPair& pair, uint32_t value) { return pair.from < value; });
  return found != end && found->from == code_point ? found->to : code_point;
}

std::vector<uint32_t> case_variants(uint32_t code_point) {
  const tables::CodePointPair* end = tables::case_variants + tables::case_variants_size;
  const auto* found = std::lower_bound(
      tables::case_variants, end, code_point,
      [](const tables::CodePointPair& pair, uint32_t value) { return pair.from < value; });
  std::vector<uint32_t> out;
  for (; found != end && found->from == code_point; ++found) out.push_back(found->to);
  return out;
}

CharRanges unite(const CharRanges& a, const CharRanges& b) {
  CharRanges all;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all),
             [](const CharRange& x, const CharRange& y) { return x.first < y.first; });
  return join_sorted(all);
}

CharRanges intersect(const CharRanges& a, const CharRanges& b) {
  return complement(unite(complement(a), complement(b)));
}

CharRanges complement(const CharRanges& a) {
  CharRanges out;
  uint32_t next = 0;
  for (const CharRange& range : a) {
    if (range.first > next) out.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLastCodePoint) out.push_back({next, kLastCodePoint});
  return out;
}

}  // namespace tandem
