#include "text/chat_template/literals.h"

// Numbers and escapes as Python writes them.

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "text/chat_template/characters.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

int digit_in(char c, int base) {
  int value = 99;
  if (is_ascii_digit(c)) value = c - '0';
  if (c >= 'a' && c <= 'z') value = c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') value = c - 'A' + 10;
  return value < base ? value : -1;
}

/// Length of digits of `base` with single underscores between them.
size_t digits_length(std::string_view text, int base) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t digit = text[at] == '_' && at > 0 ? at + 1 : at;
    if (digit >= text.size() || digit_in(text[digit], base) < 0) break;
    at = digit + 1;
  }
  return at;
}

/// False when the value does not fit.
bool accumulate(std::string_view digits, int base, Int& value) {
  for (const char c : digits) {
    if (c == '_') continue;
    if (__builtin_mul_overflow(value, Int{base}, &value)) return false;
    if (__builtin_add_overflow(value, Int{digit_in(c, base)}, &value)) return false;
  }
  return true;
}

std::string without_underscores(std::string_view text) {
  std::string out(text);
  out.erase(std::remove(out.begin(), out.end(), '_'), out.end());
  return out;
}

/// The value of a well-formed number, whatever the locale. Python rounds out of range numbers to
/// infinity and zero.
double to_double(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec == std::errc::result_out_of_range) {
    const size_t e = text.find_first_of("eE");
    const bool tiny = (e != std::string_view::npos && text.substr(e + 1).starts_with('-')) ||
                      text.starts_with("0.") || text.starts_with('.');
    value = tiny ? 0 : HUGE_VAL;
  }
  return negative ? -value : value;
}

int base_of_prefix(std::string_view text) {
  if (text.size() < 2 || text[0] != '0') return 0;
  switch (text[1]) {
    case 'x':
    case 'X':
      return 16;
    case 'o':
    case 'O':
      return 8;
    case 'b':
    case 'B':
      return 2;
    default:
      return 0;
  }
}

/// Length of a float at the beginning of the text; 0 when there is none.
size_t float_length(std::string_view text) {
  size_t at = digits_length(text, 10);
  if (at == 0) return 0;
  bool is_float = false;
  if (at + 1 < text.size() && text[at] == '.' && is_ascii_digit(text[at + 1])) {
    at += 1 + digits_length(text.substr(at + 1), 10);
    is_float = true;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    size_t digits = at + 1;
    if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) ++digits;
    if (digits < text.size() && is_ascii_digit(text[digits])) {
      at = digits + digits_length(text.substr(digits), 10);
      is_float = true;
    }
  }
  return is_float ? at : 0;
}

size_t decimal_length(std::string_view text) {
  if (text[0] != '0') return digits_length(text, 10);
  size_t at = 1;  // zeros only: 012 is not a number
  while (at < text.size()) {
    const size_t zero = text[at] == '_' ? at + 1 : at;
    if (zero >= text.size() || text[zero] != '0') break;
    at = zero + 1;
  }
  return at;
}

/// The text with white space around it gone and digits of all scripts turned into ASCII.
std::string ascii_number(std::string_view text) {
  std::string out;
  const std::string_view trimmed = trim_start(trim_end(text));
  for (size_t at = 0; at < trimmed.size();) {
    const char32_t c = next_code_point(trimmed, at);
    const int digit = c < 0x80 ? -1 : decimal_value(c);
    if (digit >= 0) {
      out += static_cast<char>('0' + digit);
    } else {
      append_utf8(out, c);
    }
  }
  return out;
}

/// Appends the character of `n_digits` hex digits at `at`, which moves behind them.
Result<void> append_hex(std::string_view inside, size_t& at, size_t n_digits, std::string& out) {
  char32_t c = 0;
  for (size_t i = 0; i < n_digits; ++i, ++at) {
    const int digit = at < inside.size() ? digit_in(inside[at], 16) : -1;
    if (digit < 0) return failure(ErrorCode::kCorruptFile, "truncated escape in a string");
    c = c << 4 | static_cast<char32_t>(digit);
  }
  if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) {
    return failure(ErrorCode::kCorruptFile, "escape of U+{:X}, which is not a character",
                   static_cast<uint32_t>(c));
  }
  append_utf8(out, c);
  return {};
}

void append_octal(std::string_view inside, size_t& at, std::string& out) {
  char32_t c = 0;
  for (int i = 0; i < 3 && at < inside.size() && digit_in(inside[at], 8) >= 0; ++i, ++at) {
    c = c * 8 + static_cast<char32_t>(inside[at] - '0');
  }
  append_utf8(out, c);
}

/// Resolves the escape whose letter is at `at`.
Result<void> append_escape(std::string_view inside, size_t& at, std::string& out) {
  static constexpr std::string_view kLetters = "\\'\"abfnrtv";
  static constexpr std::string_view kValues = "\\'\"\a\b\f\n\r\t\v";
  const char c = inside[at];
  if (const size_t i = kLetters.find(c); i != std::string_view::npos) {
    out += kValues[i];
    ++at;
    return {};
  }
  if (digit_in(c, 8) >= 0) {
    append_octal(inside, at, out);
    return {};
  }
  ++at;
  if (c == 'x') return append_hex(inside, at, 2, out);
  if (c == 'u') return append_hex(inside, at, 4, out);
  if (c == 'U') return append_hex(inside, at, 8, out);
  if (c == 'N') return failure(ErrorCode::kUnsupported, "characters by name (\\N) are unsupported");
  if (c == '\n') return {};
  out += '\\';  // unknown escapes stay as they are written
  out += c;
  return {};
}

}  // namespace

NumberLiteral scan_number(std::string_view text, bool may_be_float) {
  NumberLiteral number;
  if (may_be_float && (number.length = float_length(text)) > 0) {
    number.is_float = true;
    number.real = to_double(without_underscores(text.substr(0, number.length)));
    return number;
  }
  int base = base_of_prefix(text);
  size_t begin = 2;
  size_t length = 0;
  if (base != 0) {
    if (text.size() > 2 && text[2] == '_') ++begin;
    length = digits_length(text.substr(std::min(begin, text.size())), base);
  }
  if (length == 0) {
    base = 10;
    begin = 0;
    length = decimal_length(text);
  }
  number.length = begin + length;
  number.too_large = !accumulate(text.substr(begin, length), base, number.integer);
  return number;
}

Result<std::string> unescaped(std::string_view inside) {
  std::string out;
  for (size_t at = 0; at < inside.size();) {
    if (inside[at] != '\\' || at + 1 >= inside.size()) {
      out += inside[at++];
      continue;
    }
    ++at;
    TANDEM_TRY(append_escape(inside, at, out));
  }
  return out;
}

std::optional<Int> parse_int(std::string_view text, int base) {
  const std::string number = ascii_number(text);
  std::string_view digits = number;
  const bool negative = !digits.empty() && digits[0] == '-';
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) digits.remove_prefix(1);
  const int prefix = base_of_prefix(digits);
  if (prefix != 0 && (base == prefix || base == 0)) {
    base = prefix;
    digits.remove_prefix(2);
    if (!digits.empty() && digits[0] == '_') digits.remove_prefix(1);
  } else if (base == 0) {
    base = 10;
    if (digits.size() > 1 && digits[0] == '0' && decimal_length(digits) != digits.size()) {
      return std::nullopt;
    }
  }
  if (digits.empty() || digits_length(digits, base) != digits.size()) return std::nullopt;
  Int value = 0;
  if (!accumulate(digits, base, value)) return std::nullopt;
  return negative ? -value : value;
}

std::optional<double> parse_float(std::string_view text) {
  const std::string number = ascii_number(text);
  std::string lower;
  for (const char c : number) lower += static_cast<char>(std::tolower(static_cast<uint8_t>(c)));
  std::string_view rest = lower;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) rest.remove_prefix(1);
  const bool special = rest == "inf" || rest == "infinity" || rest == "nan";
  if (!special) {
    // Python takes "1", "1.", ".5" and "1.5e3" with underscores between digits.
    const size_t whole = digits_length(rest, 10);
    rest.remove_prefix(whole);
    size_t fraction = 0;
    if (!rest.empty() && rest[0] == '.') {
      fraction = digits_length(rest.substr(1), 10);
      rest.remove_prefix(1 + fraction);
    }
    if (whole + fraction == 0) return std::nullopt;
    if (!rest.empty() && rest[0] == 'e') {
      rest.remove_prefix(1);
      if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) rest.remove_prefix(1);
      const size_t exponent = digits_length(rest, 10);
      if (exponent == 0) return std::nullopt;
      rest.remove_prefix(exponent);
    }
    if (!rest.empty()) return std::nullopt;
  }
  return to_double(without_underscores(lower));
}

}  // namespace tandem::jinja
