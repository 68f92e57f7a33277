// Filters on numbers: int, float, abs, round, filesizeformat.

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "text/chat_template/filter_support.h"
#include "text/chat_template/literals.h"
#include "text/chat_template/operators.h"
#include "text/chat_template/rounding.h"

namespace tandem::jinja {
namespace {

/// A float cut to an integer; the default for NaN, as int() raises ValueError there.
Result<Value> truncated(double value, const Value& otherwise) {
  if (std::isnan(value)) return otherwise;
  if (std::isinf(value)) return template_error("cannot convert float infinity to integer");
  if (std::abs(value) >= 0x1p126) return template_error("the integer does not fit in 128 bits");
  return Value::integer(static_cast<Int>(value));
}

Result<Value> to_int(Interpreter&, const Value& input, const Bound& bound) {
  const Value otherwise = bound[0] != nullptr ? *bound[0] : Value::integer(0);
  TANDEM_TRY(const Int base, int_argument(bound[1], 10));
  if (input.is_undefined()) return undefined_error(input);
  if (input.is_integral()) return Value::integer(input.as_int());
  if (input.is(Kind::kFloat)) return truncated(input.as_double(), otherwise);
  if (!input.is_string()) return otherwise;
  if (base == 0 || (base >= 2 && base <= 36)) {
    if (const auto value = parse_int(input.text(), static_cast<int>(base))) {
      return Value::integer(*value);
    }
  }
  const auto value = parse_float(input.text());
  if (!value) return otherwise;
  return truncated(*value, otherwise);
}

Result<Value> to_float(Interpreter&, const Value& input, const Bound& bound) {
  if (input.is_undefined()) return undefined_error(input);
  if (input.is_number()) return Value::real(input.as_double());
  if (input.is_string()) {
    if (const auto value = parse_float(input.text())) return Value::real(*value);
  }
  return bound[0] != nullptr ? *bound[0] : Value::real(0);
}

Result<Value> absolute(Interpreter&, const Value& input, const Bound&) {
  if (input.is(Kind::kFloat)) return Value::real(std::abs(input.as_double()));
  if (!input.is_integral()) {
    return template_error("bad operand type for abs(): '{}'", type_name(input));
  }
  return input.as_int() < 0 ? unary('-', input) : Result<Value>(Value::integer(input.as_int()));
}

Result<Value> round(Interpreter& interpreter, const Value& input, const Bound& bound) {
  TANDEM_TRY(const Int precision, int_argument(bound[0], 0));
  const std::string method =
      bound[1] != nullptr ? to_text(*bound[1], interpreter.heap()) : "common";
  if (method != "common" && method != "ceil" && method != "floor") {
    return template_error("method must be common, ceil or floor");
  }
  if (method == "common") return rounded(input, precision);
  if (input.is_undefined()) return undefined_error(input);
  if (!input.is_number()) return template_error("must be real number, not {}", type_name(input));
  if (input.is_integral() && precision >= 0) return Value::real(input.as_double());
  const double scale = std::pow(10.0, static_cast<double>(precision));
  const double scaled = input.as_double() * scale;
  if (std::isnan(scaled)) return template_error("cannot convert float NaN to integer");
  if (std::isinf(scaled)) return template_error("cannot convert float infinity to integer");
  // Python rounds to an integer, which has no negative zero.
  const double whole = (method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) + 0.0;
  return Value::real(whole / scale);
}

Result<Value> file_size(Interpreter& interpreter, const Value& input, const Bound& bound) {
  Heap& heap = interpreter.heap();
  const bool binary = bound[0] != nullptr && truthy(*bound[0]);
  double bytes = 0;
  if (input.is_number()) {
    bytes = input.as_double();
  } else {
    const auto parsed = input.is_string() ? parse_float(input.text()) : std::nullopt;
    if (input.is_string() && !parsed) {
      return template_error("could not convert string to float: {}", to_repr(input, heap));
    }
    if (!parsed) {
      return template_error("float() argument must be a string or a real number, not '{}'",
                            type_name(input));
    }
    bytes = *parsed;
  }
  if (bytes == 1) return heap.string("1 Byte");
  const double base = binary ? 1024 : 1000;
  if (bytes < base) return heap.string(fixed_text(std::trunc(bytes) + 0.0, 0) + " Bytes");
  static constexpr std::string_view kPrefixes = "kMGTPEZY";
  double unit = base;
  for (const char prefix : kPrefixes) {
    unit *= base;
    if (bytes >= unit && prefix != kPrefixes.back()) continue;
    const char shown = binary && prefix == 'k' ? 'K' : prefix;
    return heap.string(fmt::format("{:.1f} {}{}B", base * bytes / unit, shown, binary ? "i" : ""));
  }
  return Value();
}

}  // namespace

std::span<const Builtin> number_filters() {
  static const Builtin kFilters[] = {
      {"int", "do_int", {{"default"}, {"base"}}, to_int},
      {"float", "do_float", {{"default"}}, to_float},
      {"abs", "abs", {}, absolute},
      {"round", "do_round", {{"precision"}, {"method"}}, round},
      {"filesizeformat", "do_filesizeformat", {{"binary"}}, file_size},
  };
  return kFilters;
}

}  // namespace tandem::jinja
