#include "text/chat_template/rounding.h"

// Correct decimal rounding.

#include <charconv>
#include <cmath>
#include <string>

#include "text/chat_template/heap.h"
#include "text/chat_template/literals.h"
#include "text/chat_template/text_form.h"

namespace tandem::jinja {
namespace {

Result<Value> round_int(Int value, Int digits) {
  if (digits >= 0) return Value::integer(value);
  if (digits < -38) return Value::integer(0);
  Int unit = 1;
  for (Int i = 0; i < -digits; ++i) unit *= 10;
  Int remainder = value % unit;
  if (remainder < 0) remainder += unit;
  const Int low = value - remainder;
  // Compared without doubling the remainder, which could overflow.
  const Int rest = unit - remainder;
  const bool up = remainder > rest || (remainder == rest && (low / unit) % 2 != 0);
  return Value::integer(up ? low + unit : low);
}

}  // namespace

std::string fixed_text(double value, int digits) {
  // 309 digits before the point at most, and exact for every double.
  std::string buffer(static_cast<size_t>(digits) + 330, '\0');
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::fixed, digits);
  buffer.resize(static_cast<size_t>(end.ptr - buffer.data()));
  return buffer;
}

Result<Value> rounded(const Value& value, Int digits) {
  if (value.is_integral()) return round_int(value.as_int(), digits);
  if (!value.is(Kind::kFloat)) {
    return template_error("type {} doesn't define __round__ method", type_name(value));
  }
  const double x = value.as_double();
  if (!std::isfinite(x) || digits > 330) return value;
  if (digits < -330) return Value::real(std::copysign(0.0, x));
  if (digits >= 0) {
    return Value::real(parse_float(fixed_text(x, static_cast<int>(digits))).value_or(x));
  }
  // Tens and up: the integer part decides, except for a fraction that breaks a tie.
  const double unit = std::pow(10.0, static_cast<double>(-digits));
  const double remainder = std::fmod(std::abs(x), unit);
  const double low = std::abs(x) - remainder;
  const bool odd = std::fmod(low / unit, 2.0) != 0;
  const bool up = remainder > unit / 2 || (remainder == unit / 2 && odd);
  return Value::real(std::copysign(up ? low + unit : low, x));
}

}  // namespace tandem::jinja
