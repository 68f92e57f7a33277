#include "text/chat_template/percent_format.h"

// Python's % formatting of strings.

#include <algorithm>
#include <cmath>

#include "text/chat_template/filter_support.h"
#include "text/chat_template/format_spec.h"
#include "text/chat_template/literals.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

class PercentFormatter {
 public:
  PercentFormatter(Interpreter& interpreter, const Value& format, const Value& arguments)
      : heap_(interpreter.heap()),
        text_(format.text()),
        safe_(format.is_safe()),
        arguments_(arguments),
        out_(heap_) {}

  Result<Value> run();

 private:
  Result<void> conversion();
  Result<Value> next_argument();
  Result<Value> mapped_argument();
  Result<void> read_options(FormatSpec& spec);
  Result<std::optional<Int>> read_size();
  Result<std::string> converted(const Value& value, FormatSpec& spec);
  Result<Int> whole_number(const Value& value, char type) const;
  Result<std::string> integer(const Value& value, FormatSpec& spec);
  Result<std::string> real_number(const Value& value, FormatSpec& spec);
  std::string finish_number(bool negative, std::string_view prefix, const std::string& digits,
                            FormatSpec& spec);
  Result<std::string> character(const Value& value, FormatSpec& spec);
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  Heap& heap_;
  const std::string_view text_;
  const bool safe_;
  const Value& arguments_;
  TextBuilder out_;
  size_t at_ = 0;
  size_t next_ = 0;      ///< positional argument to take next
  bool mapped_ = false;  ///< a %(name) was seen
};

Result<Value> PercentFormatter::next_argument() {
  if (arguments_.is(Kind::kTuple)) {
    if (next_ >= arguments_.items().size()) {
      return template_error("not enough arguments for format string");
    }
    return arguments_.items()[next_++];
  }
  if (next_++ > 0) return template_error("not enough arguments for format string");
  return arguments_;
}

/// %(name)…: the argument of that name.
Result<Value> PercentFormatter::mapped_argument() {
  if (!arguments_.is_dict()) return template_error("format requires a mapping");
  int depth = 1;
  const size_t begin = ++at_;
  for (; at_ < text_.size(); ++at_) {
    depth += text_[at_] == '(' ? 1 : text_[at_] == ')' ? -1 : 0;
    if (depth == 0) break;
  }
  if (depth != 0) return template_error("incomplete format key");
  const std::string_view key = text_.substr(begin, at_ - begin);
  ++at_;
  mapped_ = true;
  if (const Value* value = arguments_.dict().entries.find(key)) return *value;
  return template_error("{}", to_repr(heap_.string(std::string(key)), heap_));
}

/// A width or precision: digits, or * for the next argument.
Result<std::optional<Int>> PercentFormatter::read_size() {
  if (peek() == '*') {
    ++at_;
    TANDEM_TRY(const Value value, next_argument());
    if (!value.is_integral()) return template_error("* wants int");
    return value.as_int();
  }
  std::optional<Int> size;
  for (; peek() >= '0' && peek() <= '9'; ++at_) {
    size = std::min<Int>(size.value_or(0) * 10 + (peek() - '0'), Int{1} << 60);
  }
  return size;
}

Result<void> PercentFormatter::read_options(FormatSpec& spec) {
  bool left = false;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '-') {
      left = true;
    } else if (c == '+') {
      spec.sign = '+';
    } else if (c == ' ') {
      if (spec.sign != '+') spec.sign = ' ';
    } else if (c == '#') {
      spec.alternate = true;
    } else if (c == '0') {
      spec.zero_pad = true;
    } else {
      break;
    }
  }
  TANDEM_TRY(const auto width, read_size());
  spec.width = width.value_or(0);
  if (spec.width < 0) {
    left = true;
    spec.width = -spec.width;
  }
  if (peek() == '.') {
    ++at_;
    TANDEM_TRY(const auto precision, read_size());
    if (precision.value_or(0) > 4000) return template_error("precision too big");
    spec.precision = static_cast<int>(std::max<Int>(precision.value_or(0), 0));
  }
  while (peek() == 'h' || peek() == 'l' || peek() == 'L') ++at_;
  spec.align = left ? '<' : '>';
  return {};
}

Result<std::string> PercentFormatter::character(const Value& value, FormatSpec& spec) {
  if (value.is_string()) {
    if (value.string().n_chars != 1) return template_error("%c requires int or char");
    return aligned(heap_, std::string(value.text()), spec, '>', 0);
  }
  if (!value.is_integral()) return template_error("%c requires int or char");
  const Int code = value.as_int();
  if (code < 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
    return template_error("%c arg not in range(0x110000)");
  }
  std::string text;
  append_utf8(text, static_cast<char32_t>(code));
  return aligned(heap_, text, spec, '>', 0);
}

/// The integer that %d and its kin print.
Result<Int> PercentFormatter::whole_number(const Value& value, char type) const {
  if (value.is_integral()) return value.as_int();
  const bool decimal = type == 'd' || type == 'i' || type == 'u';
  if (!value.is(Kind::kFloat) || !decimal) {
    return template_error("%{} format: {} is required, not {}", type,
                          decimal ? "a real number" : "an integer", type_name(value));
  }
  const double d = value.as_double();
  if (std::isnan(d)) return template_error("cannot convert float NaN to integer");
  if (std::isinf(d)) return template_error("cannot convert float infinity to integer");
  if (std::abs(d) >= 0x1p126) return template_error("the integer does not fit in 128 bits");
  return static_cast<Int>(d);
}

std::string PercentFormatter::finish_number(bool negative, std::string_view prefix,
                                            const std::string& digits, FormatSpec& spec) {
  std::string text;
  if (negative) text = "-";
  if (!negative && spec.sign != '-') text = std::string(1, spec.sign);
  text += prefix;
  const size_t n_prefix = text.size();
  if (spec.zero_pad && spec.align == '>') {
    spec.fill = '0';
    spec.align = '=';
  }
  return aligned(heap_, text + digits, spec, '>', n_prefix);
}

Result<std::string> PercentFormatter::real_number(const Value& value, FormatSpec& spec) {
  if (value.is_undefined()) return undefined_error(value);
  if (!value.is_number()) return template_error("must be real number, not {}", type_name(value));
  const double d = value.as_double();
  const std::string digits =
      float_digits(std::abs(d), spec.type, spec.precision.value_or(6), spec.alternate);
  return finish_number(std::signbit(d) && !std::isnan(d), "", digits, spec);
}

Result<std::string> PercentFormatter::integer(const Value& value, FormatSpec& spec) {
  TANDEM_TRY(const Int whole, whole_number(value, spec.type));
  int base = 10;
  std::string_view prefix;
  if (spec.type == 'o') base = 8, prefix = "0o";
  if (spec.type == 'x') base = 16, prefix = "0x";
  if (spec.type == 'X') base = 16, prefix = "0X";
  std::string digits = int_digits(whole < 0 ? -whole : whole, base, spec.type == 'X');
  const auto n_digits = static_cast<size_t>(spec.precision.value_or(0));
  if (digits.size() < n_digits) digits.insert(0, n_digits - digits.size(), '0');
  return finish_number(whole < 0, spec.alternate ? prefix : "", digits, spec);
}

Result<std::string> PercentFormatter::converted(const Value& value, FormatSpec& spec) {
  switch (spec.type) {
    case 's':
    case 'r':
    case 'a': {
      std::string text = spec.type == 's'   ? to_text(value, heap_)
                         : spec.type == 'r' ? to_repr(value, heap_)
                                            : to_ascii_repr(value, heap_);
      if (safe_ && !(spec.type == 's' && value.is_safe())) text = html_escaped(text, heap_);
      if (spec.precision) text.resize(byte_offset(text, static_cast<size_t>(*spec.precision)));
      return aligned(heap_, std::move(text), spec, '>', 0);
    }
    case 'c':
      return character(value, spec);
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      return integer(value, spec);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      return real_number(value, spec);
    default:
      break;
  }
  const size_t position = count_code_points(text_.substr(0, at_ - 1));
  size_t at = at_ - 1;
  const auto code = static_cast<uint32_t>(next_code_point(text_, at));
  return template_error("unsupported format character '{}' (0x{:x}) at index {}",
                        code >= 32 && code < 127 ? static_cast<char>(code) : '?', code, position);
}

Result<void> PercentFormatter::conversion() {
  Value value;
  bool has_value = false;
  if (peek() == '(') {
    TANDEM_TRY(value, mapped_argument());
    has_value = true;
  }
  FormatSpec spec;
  TANDEM_TRY(read_options(spec));
  if (at_ >= text_.size()) return template_error("incomplete format");
  spec.type = text_[at_++];
  if (spec.type == '%') {
    out_.append("%");
    return {};
  }
  if (!has_value) {
    TANDEM_TRY(value, next_argument());
  }
  TANDEM_TRY(const std::string text, converted(value, spec));
  out_.append(text);
  return {};
}

Result<Value> PercentFormatter::run() {
  while (at_ < text_.size() && !out_.full()) {
    const size_t percent = std::min(text_.find('%', at_), text_.size());
    out_.append(text_.substr(at_, percent - at_));
    at_ = percent + 1;
    if (percent == text_.size()) break;
    TANDEM_TRY(conversion());
  }
  const size_t n_given = arguments_.is(Kind::kTuple) ? arguments_.items().size() : 1;
  const bool unused_allowed = arguments_.is_dict() || arguments_.is(Kind::kList) ||
                              arguments_.is(Kind::kRange) || arguments_.is_undefined();
  if (!unused_allowed && !mapped_ && next_ < n_given) {
    return template_error("not all arguments converted during string formatting");
  }
  return heap_.string(out_.take(), safe_);
}

}  // namespace

Result<Value> percent_format(Interpreter& interpreter, const Value& format,
                             const Value& arguments) {
  return PercentFormatter(interpreter, format, arguments).run();
}

}  // namespace tandem::jinja
