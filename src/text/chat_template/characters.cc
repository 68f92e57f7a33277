#include "text/chat_template/characters.h"

// Classes and case of code points, as Python's str has them.

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

struct FlagRun {
  char32_t first;  ///< the run ends where the next one begins
  uint16_t flags;
};

struct CaseMapping {
  char32_t from;
  char32_t to[3];  ///< one to three code points, zero-filled
};

#include "text/chat_template/unicode_tables.inc"

const FlagRun& run_of(char32_t c) {
  const auto after = std::upper_bound(std::begin(kFlagRuns), std::end(kFlagRuns), c,
                                      [](char32_t x, const FlagRun& run) { return x < run.first; });
  return *std::prev(after);
}

bool has(char32_t c, uint16_t flag) { return (run_of(c).flags & flag) != 0; }

template <size_t N>
const CaseMapping* find_mapping(const CaseMapping (&table)[N], char32_t c) {
  const auto at =
      std::lower_bound(std::begin(table), std::end(table), c,
                       [](const CaseMapping& entry, char32_t x) { return entry.from < x; });
  return at != std::end(table) && at->from == c ? at : nullptr;
}

void append_mapped(std::string& out, const CaseMapping* mapping, char32_t c) {
  if (mapping == nullptr) return append_utf8(out, c);
  for (const char32_t to : mapping->to) {
    if (to != 0) append_utf8(out, to);
  }
}

void append_upper(std::string& out, char32_t c) { append_mapped(out, find_mapping(kUpper, c), c); }

void append_titled(std::string& out, char32_t c) {
  if (const auto* mapping = find_mapping(kTitleNotUpper, c)) return append_mapped(out, mapping, c);
  append_upper(out, c);
}

/// Capital sigma is final when a cased letter comes before it and none after, case-ignorable
/// characters skipped (Unicode 3.13, Final_Sigma).
bool is_final_sigma(const std::u32string& text, size_t at) {
  size_t before = at;
  while (before > 0 && has(text[before - 1], kIsIgnorable)) --before;
  if (before == 0 || !has(text[before - 1], kIsCased)) return false;
  size_t after = at + 1;
  while (after < text.size() && has(text[after], kIsIgnorable)) ++after;
  return after == text.size() || !has(text[after], kIsCased);
}

void append_lower(std::string& out, const std::u32string& text, size_t at) {
  constexpr char32_t kCapitalSigma = 0x3A3;
  constexpr char32_t kFinalSigma = 0x3C2;
  if (text[at] == kCapitalSigma && is_final_sigma(text, at)) return append_utf8(out, kFinalSigma);
  append_mapped(out, find_mapping(kLower, text[at]), text[at]);
}

}  // namespace

bool is_alpha(char32_t c) { return has(c, kIsAlpha); }
bool is_decimal(char32_t c) { return has(c, kIsDecimal); }
bool is_digit(char32_t c) { return has(c, kIsDigit); }
bool is_numeric(char32_t c) { return has(c, kIsNumeric); }
bool is_space(char32_t c) { return has(c, kIsSpace); }
bool is_upper(char32_t c) { return has(c, kIsUpper); }
bool is_lower(char32_t c) { return has(c, kIsLower); }
bool is_title(char32_t c) { return has(c, kIsTitle); }
bool is_printable(char32_t c) { return has(c, kIsPrintable); }
bool is_id_start(char32_t c) { return has(c, kIsIdStart); }
bool is_id_continue(char32_t c) { return has(c, kIsIdContinue); }
bool is_alnum(char32_t c) { return has(c, kIsAlpha | kIsDecimal | kIsDigit | kIsNumeric); }

int decimal_value(char32_t c) {
  const FlagRun& run = run_of(c);
  if ((run.flags & kIsDecimal) == 0) return -1;
  return static_cast<int>((c - run.first) % 10);  // digits come in tens, from zero
}

std::string to_upper(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) append_upper(out, next_code_point(text, at));
  return out;
}

std::string to_lower(std::string_view text) {
  const std::u32string points = to_code_points(text);
  std::string out;
  for (size_t i = 0; i < points.size(); ++i) append_lower(out, points, i);
  return out;
}

std::string to_title(std::string_view text) {
  const std::u32string points = to_code_points(text);
  std::string out;
  bool inside_word = false;
  for (size_t i = 0; i < points.size(); ++i) {
    if (inside_word) {
      append_lower(out, points, i);
    } else {
      append_titled(out, points[i]);
    }
    inside_word = has(points[i], kIsCased) || has(points[i], kIsUpper | kIsLower | kIsTitle);
  }
  return out;
}

std::string to_casefold(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    const auto* mapping = find_mapping(kFoldNotLower, c);
    append_mapped(out, mapping != nullptr ? mapping : find_mapping(kLower, c), c);
  }
  return out;
}

std::string to_capitalized(std::string_view text) {
  const std::u32string points = to_code_points(text);
  std::string out;
  for (size_t i = 0; i < points.size(); ++i) {
    if (i == 0) {
      append_titled(out, points[i]);
    } else {
      append_lower(out, points, i);
    }
  }
  return out;
}

std::string to_swapped_case(std::string_view text) {
  const std::u32string points = to_code_points(text);
  std::string out;
  for (size_t i = 0; i < points.size(); ++i) {
    if (has(points[i], kIsUpper)) {
      append_lower(out, points, i);
    } else if (has(points[i], kIsLower)) {
      append_upper(out, points[i]);
    } else {
      append_utf8(out, points[i]);
    }
  }
  return out;
}

std::string_view trim_end(std::string_view text) {
  while (!text.empty()) {
    const size_t last = previous_offset(text, text.size());
    size_t at = last;
    if (!is_space(next_code_point(text, at))) break;
    text = text.substr(0, last);
  }
  return text;
}

std::string_view trim_start(std::string_view text) {
  size_t begin = 0;
  while (begin < text.size()) {
    size_t after = begin;
    if (!is_space(next_code_point(text, after))) break;
    begin = after;
  }
  return text.substr(begin);
}

}  // namespace tandem::jinja
