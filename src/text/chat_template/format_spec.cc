#include "text/chat_template/format_spec.h"

// The format specification mini-language of Python.

#include <algorithm>
#include <charconv>
#include <cmath>

#include "text/chat_template/padding.h"
#include "text/chat_template/rounding.h"
#include "text/chat_template/text_form.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

constexpr int kMaxPrecision = 4000;  ///< bounds the digits one conversion makes

bool is_align(char32_t c) { return c == '<' || c == '>' || c == '^' || c == '='; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A number at `at`, which moves behind it; capped far beyond every limit.
Int read_number(std::string_view text, size_t& at) {
  Int value = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    value = std::min<Int>(value * 10 + (text[at] - '0'), Int{1} << 60);
  }
  return value;
}

char sign_of(bool negative, char option) {
  if (negative) return '-';
  return option == '-' ? '\0' : option;
}

std::string grouped(const std::string& digits, char separator, size_t size) {
  const size_t n_whole =
      std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
  std::string out;
  for (size_t i = 0; i < n_whole; ++i) {
    if (i > 0 && (n_whole - i) % size == 0) out += separator;
    out += digits[i];
  }
  return out + digits.substr(n_whole);
}

std::string with_sign(char sign, std::string_view prefix, std::string digits) {
  std::string out;
  if (sign != 0) out += sign;
  out += prefix;
  return out + digits;
}

std::string finish_number(Heap& heap, char sign, std::string_view prefix, std::string digits,
                          FormatSpec spec) {
  if (spec.zero_pad && spec.align == 0) spec.align = '=';
  const size_t n_prefix = (sign != 0 ? 1 : 0) + prefix.size();
  return aligned(heap, with_sign(sign, prefix, std::move(digits)), spec, '>', n_prefix);
}

Result<std::string> format_int(Heap& heap, const Value& value, const FormatSpec& spec) {
  if (spec.precision) return template_error("Precision not allowed in integer format specifier");
  if (spec.coerce_zero) {
    return template_error("Negative zero coercion (z) not allowed in integer format specifier");
  }
  const Int number = value.as_int();
  const Int magnitude = number < 0 ? -number : number;
  const char sign = sign_of(number < 0, spec.sign);
  int base = 10;
  std::string_view prefix;
  switch (spec.type) {
    case 'b':
      base = 2, prefix = "0b";
      break;
    case 'o':
      base = 8, prefix = "0o";
      break;
    case 'x':
      base = 16, prefix = "0x";
      break;
    case 'X':
      base = 16, prefix = "0X";
      break;
    case 'c': {
      if (number < 0 || number > 0x10FFFF || (number >= 0xD800 && number <= 0xDFFF)) {
        return template_error("%c arg not in range(0x110000)");
      }
      std::string text;
      append_utf8(text, static_cast<char32_t>(number));
      return aligned(heap, text, spec, '<', 0);
    }
    default:
      break;
  }
  std::string digits = int_digits(magnitude, base, spec.type == 'X');
  if (spec.grouping != 0) digits = grouped(digits, spec.grouping, base == 10 ? 3 : 4);
  return finish_number(heap, sign, spec.alternate ? prefix : "", std::move(digits), spec);
}

Result<std::string> format_float(Heap& heap, double value, const FormatSpec& spec) {
  char sign = sign_of(std::signbit(value) && !std::isnan(value), spec.sign);
  const double magnitude = std::abs(value);
  std::string digits;
  if (spec.type == 0 && !spec.precision) {
    digits = float_text(magnitude);
  } else if (spec.type == 0) {
    // Like 'g', but with a digit behind the point unless an exponent says it all.
    digits = float_digits(magnitude, 'r', std::max(*spec.precision, 1), spec.alternate);
  } else if (spec.type == '%') {
    digits = float_digits(magnitude * 100, 'f', spec.precision.value_or(6), spec.alternate) + "%";
  } else {
    digits = float_digits(magnitude, spec.type, spec.precision.value_or(6), spec.alternate);
  }
  if (spec.grouping != 0) digits = grouped(digits, spec.grouping, 3);
  const bool is_zero = digits.find_first_of("123456789in") == std::string::npos;
  if (spec.coerce_zero && is_zero && sign == '-') sign = sign_of(false, spec.sign);
  return finish_number(heap, sign, "", std::move(digits), spec);
}

Result<std::string> format_text(Heap& heap, std::string_view text, const FormatSpec& spec) {
  if (spec.sign != '-') return template_error("Sign not allowed in string format specifier");
  if (spec.coerce_zero) {
    return template_error("Negative zero coercion (z) not allowed in string format specifier");
  }
  if (spec.grouping != 0) {
    return template_error("Cannot specify '{}' with 's'.", spec.grouping);
  }
  if (spec.alternate) {
    return template_error("Alternate form (#) not allowed in string format specifier");
  }
  if (spec.align == '=') {
    return template_error("'=' alignment not allowed in string format specifier");
  }
  if (spec.precision)
    text = text.substr(0, byte_offset(text, static_cast<size_t>(*spec.precision)));
  return aligned(heap, std::string(text), spec, '<', 0);
}

tl::unexpected<Error> unknown_code(const FormatSpec& spec, const Value& value) {
  return template_error("Unknown format code '{}' for object of type '{}'", spec.type,
                        type_name(value));
}

}  // namespace

Result<FormatSpec> FormatSpec::parse(std::string_view text) {
  FormatSpec spec;
  size_t at = 0;
  if (!text.empty()) {
    size_t after = 0;
    const char32_t first = next_code_point(text, after);
    if (after < text.size() && is_align(static_cast<unsigned char>(text[after]))) {
      spec.fill = first;
      spec.align = text[after];
      at = after + 1;
    } else if (is_align(first)) {
      spec.align = static_cast<char>(first);
      at = 1;
    }
  }
  const bool has_fill = at > 1;
  const auto peek = [&] { return at < text.size() ? text[at] : '\0'; };
  if (peek() == '+' || peek() == '-' || peek() == ' ') spec.sign = text[at++];
  if (peek() == 'z') spec.coerce_zero = true, ++at;
  if (peek() == '#') spec.alternate = true, ++at;
  if (peek() == '0' && !has_fill) {
    spec.fill = '0';
    spec.zero_pad = true;
    ++at;
  }
  spec.width = read_number(text, at);
  if (peek() == ',' || peek() == '_') spec.grouping = text[at++];
  if (peek() == '.') {
    ++at;
    if (!is_digit(peek())) return template_error("Format specifier missing precision");
    const Int precision = read_number(text, at);
    if (precision > kMaxPrecision) return template_error("precision too big");
    spec.precision = static_cast<int>(precision);
  }
  if (at < text.size()) spec.type = text[at++];
  if (at < text.size()) return template_error("Invalid format specifier");
  return spec;
}

Result<std::string> format_value(Heap& heap, const Value& value, const FormatSpec& spec) {
  static constexpr std::string_view kIntTypes = "bcdoxXn", kFloatTypes = "eEfFgG%n";
  const bool no_type = spec.type == 0;
  if (value.is_string()) {
    if (!no_type && spec.type != 's') return unknown_code(spec, value);
    return format_text(heap, value.text(), spec);
  }
  if (value.is(Kind::kFloat)) {
    if (!no_type && kFloatTypes.find(spec.type) == std::string_view::npos) {
      return unknown_code(spec, value);
    }
    return format_float(heap, value.as_double(), spec);
  }
  if (value.is_integral()) {
    if (no_type || kIntTypes.find(spec.type) != std::string_view::npos) {
      return format_int(heap, value, spec);
    }
    if (kFloatTypes.find(spec.type) == std::string_view::npos) return unknown_code(spec, value);
    return format_float(heap, value.as_double(), spec);
  }
  return template_error("unsupported format string passed to {}.__format__", type_name(value));
}

std::string int_digits(Int magnitude, int base, bool upper) {
  if (base == 10) return int_text(magnitude);
  const std::string_view kDigits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string digits;
  do {
    digits += kDigits[static_cast<size_t>(magnitude % base)];
    magnitude /= base;
  } while (magnitude != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

namespace {

std::string scientific(double magnitude, int precision) {
  std::string buffer(static_cast<size_t>(precision) + 32, '\0');
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude,
                                 std::chars_format::scientific, precision);
  buffer.resize(static_cast<size_t>(end.ptr - buffer.data()));
  return buffer;
}

/// 'g', or with `always_point` the same with ".0" where no point would be.
std::string general(double magnitude, int precision, bool alternate, bool always_point) {
  precision = std::max(precision, 1);
  const std::string exact = scientific(magnitude, precision - 1);
  const size_t e = exact.find('e');
  const int exponent = std::atoi(exact.c_str() + e + 1);
  const bool as_exponent = exponent < -4 || exponent >= precision;
  std::string digits =
      as_exponent ? exact.substr(0, e) : fixed_text(magnitude, precision - 1 - exponent);
  if (!alternate && digits.find('.') != std::string::npos) {
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
  } else if (alternate && digits.find('.') == std::string::npos) {
    digits += '.';
  }
  if (as_exponent) return digits + exact.substr(e);
  if (always_point && digits.find('.') == std::string::npos) digits += ".0";
  return digits;
}

}  // namespace

std::string float_digits(double magnitude, char type, int precision, bool alternate) {
  const bool upper = type == 'E' || type == 'F' || type == 'G';
  std::string text;
  if (!std::isfinite(magnitude)) {
    text = std::isnan(magnitude) ? "nan" : "inf";
  } else if (type == 'f' || type == 'F') {
    text = fixed_text(magnitude, precision);
    if (alternate && precision == 0) text += '.';
  } else if (type == 'e' || type == 'E') {
    text = scientific(magnitude, precision);
    if (alternate && precision == 0) text.insert(text.find('e'), ".");
  } else {
    text = general(magnitude, precision, alternate, type == 'r');
  }
  if (upper)
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
      return static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    });
  return text;
}

std::string aligned(Heap& heap, std::string text, const FormatSpec& spec, char default_align,
                    size_t n_prefix) {
  const char align = spec.align != 0 ? spec.align : default_align;
  const auto length = static_cast<Int>(count_code_points(text));
  if (spec.width <= length) return text;
  if (align == '=') {
    const Int rest = spec.width - static_cast<Int>(n_prefix);
    return text.substr(0, n_prefix) +
           padded(heap, text.substr(n_prefix), rest, spec.fill, Padding::kRight);
  }
  if (align == '<') return padded(heap, text, spec.width, spec.fill, Padding::kLeft);
  if (align == '>') return padded(heap, text, spec.width, spec.fill, Padding::kRight);
  // Unlike str.center, an odd space goes right.
  const Int left = (spec.width - length) / 2;
  text = padded(heap, text, length + left, spec.fill, Padding::kRight);
  return padded(heap, text, spec.width, spec.fill, Padding::kLeft);
}

}  // namespace tandem::jinja
