#include "text/chat_template/operators.h"

// Arithmetic, concatenation, repetition, membership: the operators of the language.

#include <cmath>
#include <string_view>

#include "text/chat_template/compare.h"
#include "text/chat_template/interpreter.h"
#include "text/chat_template/percent_format.h"
#include "text/chat_template/text_form.h"
#include "text/chat_template/text_search.h"

namespace tandem::jinja {
namespace {

const char* symbol(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
      return "+";
    case BinaryOp::kSubtract:
      return "-";
    case BinaryOp::kMultiply:
      return "*";
    case BinaryOp::kDivide:
      return "/";
    case BinaryOp::kFloorDivide:
      return "//";
    case BinaryOp::kModulo:
      return "%";
    case BinaryOp::kPower:
      return "** or pow()";
  }
  return "?";
}

tl::unexpected<Error> unsupported(BinaryOp op, const Value& a, const Value& b) {
  return template_error("unsupported operand type(s) for {}: '{}' and '{}'", symbol(op),
                        type_name(a), type_name(b));
}

tl::unexpected<Error> too_large() { return template_error("the result does not fit in 128 bits"); }

/// The least integer counts as too large, so that every integer can be negated.
Result<Value> checked_integer(bool overflow, Int result) {
  constexpr Int kLeast = Int{1} << 126;
  if (overflow || result == -kLeast - kLeast) return too_large();
  return Value::integer(result);
}

Result<Value> power_int(Int base, Int exponent) {
  if (exponent < 0) {
    if (base == 0) return template_error("0.0 cannot be raised to a negative power");
    return Value::real(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  if (base == 0 || base == 1) return Value::integer(exponent == 0 ? 1 : base);
  if (base == -1) return Value::integer(exponent % 2 == 0 ? 1 : -1);
  if (exponent > 127) return too_large();
  Int result = 1;
  for (Int i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) return too_large();
  }
  return checked_integer(false, result);
}

/// Quotient rounded down and remainder with the divisor's sign, as Python has them.
Result<Value> divide_int(BinaryOp op, Int a, Int b) {
  if (b == 0) {
    return op == BinaryOp::kModulo ? template_error("integer modulo by zero")
                                   : template_error("integer division or modulo by zero");
  }
  if (b == -1) {  // the one quotient that can overflow
    if (op == BinaryOp::kModulo) return Value::integer(0);
    Int negated;
    if (__builtin_sub_overflow(Int{0}, a, &negated)) return too_large();
    return Value::integer(negated);
  }
  Int quotient = a / b, remainder = a % b;
  if (remainder != 0 && (remainder < 0) != (b < 0)) {
    --quotient;
    remainder += b;
  }
  return Value::integer(op == BinaryOp::kModulo ? remainder : quotient);
}

Result<Value> integer_arithmetic(BinaryOp op, Int a, Int b) {
  Int result = 0;
  bool overflow = false;
  switch (op) {
    case BinaryOp::kAdd:
      overflow = __builtin_add_overflow(a, b, &result);
      break;
    case BinaryOp::kSubtract:
      overflow = __builtin_sub_overflow(a, b, &result);
      break;
    case BinaryOp::kMultiply:
      overflow = __builtin_mul_overflow(a, b, &result);
      break;
    case BinaryOp::kDivide:
      if (b == 0) return template_error("division by zero");
      // Integers past 53 bits would be rounded twice as doubles.
      return Value::real(
          static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b)));
    case BinaryOp::kFloorDivide:
    case BinaryOp::kModulo:
      return divide_int(op, a, b);
    case BinaryOp::kPower:
      return power_int(a, b);
  }
  return checked_integer(overflow, result);
}

double float_remainder(double a, double b) {
  const double remainder = std::fmod(a, b);
  if (remainder == 0) return std::copysign(0.0, b);
  return (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

/// Rounded down by way of the remainder, as Python does: the quotient itself may be inexact.
double float_floor_quotient(double a, double b) {
  const double remainder = std::fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder != 0 && (remainder < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

Result<Value> power_float(double a, double b) {
  if (a == 0 && b < 0) return template_error("0.0 cannot be raised to a negative power");
  if (a < 0 && std::isfinite(b) && b != std::floor(b)) {
    return template_error("complex numbers are unsupported");
  }
  const double result = std::pow(a, b);
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) {
    return template_error("(34, 'Numerical result out of range')");
  }
  return Value::real(result);
}

Result<Value> float_arithmetic(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd:
      return Value::real(a + b);
    case BinaryOp::kSubtract:
      return Value::real(a - b);
    case BinaryOp::kMultiply:
      return Value::real(a * b);
    case BinaryOp::kDivide:
      if (b == 0) return template_error("float division by zero");
      return Value::real(a / b);
    case BinaryOp::kFloorDivide:
      if (b == 0) return template_error("float floor division by zero");
      return Value::real(float_floor_quotient(a, b));
    case BinaryOp::kModulo:
      if (b == 0) return template_error("float modulo");
      return Value::real(float_remainder(a, b));
    case BinaryOp::kPower:
      return power_float(a, b);
  }
  return Value();
}

Value concatenated_strings(Heap& heap, const Value& a, const Value& b) {
  TextBuilder out(heap);
  const bool safe = a.is_safe() || b.is_safe();
  for (const Value* part : {&a, &b}) {
    if (safe && !part->is_safe()) {
      out.append(html_escaped(part->text(), heap));
    } else {
      out.append(part->text());
    }
  }
  return heap.string(out.take(), safe);
}

Result<Value> add(Interpreter& interpreter, const Value& a, const Value& b) {
  Heap& heap = interpreter.heap();
  if (a.is_string() && b.is_string()) return concatenated_strings(heap, a, b);
  if (a.is_sequence() && a.kind() == b.kind()) {
    const size_t n = a.items().size() + b.items().size();
    if (!heap.can_hold(n * sizeof(Value))) return heap.exhausted_error();
    std::vector<Value> items = a.items();
    items.insert(items.end(), b.items().begin(), b.items().end());
    return a.is(Kind::kList) ? heap.list(std::move(items)) : heap.tuple(std::move(items));
  }
  if (a.is_string() || a.is_sequence()) {
    return template_error("can only concatenate {} (not \"{}\") to {}", type_name(a), type_name(b),
                          type_name(a));
  }
  return unsupported(BinaryOp::kAdd, a, b);
}

Result<Value> repeat(Interpreter& interpreter, const Value& sequence, const Value& count) {
  Heap& heap = interpreter.heap();
  const Int times = count.as_int() > 0 ? count.as_int() : 0;
  const size_t unit =
      sequence.is_string() ? sequence.text().size() : sequence.items().size() * sizeof(Value);
  const auto limit = static_cast<Int>(heap.limits().max_memory_bytes);
  if (unit > 0 && times > limit / static_cast<Int>(unit)) {
    heap.note_exhausted(Heap::Limit::kMemory);
    return heap.exhausted_error();
  }
  const size_t n = unit == 0 ? 0 : static_cast<size_t>(times);
  if (!heap.can_hold(n * unit)) return heap.exhausted_error();
  if (sequence.is_string()) {
    std::string text;
    text.reserve(n * unit);
    for (size_t i = 0; i < n; ++i) text += sequence.text();
    return heap.string(std::move(text), sequence.is_safe());
  }
  std::vector<Value> items;
  items.reserve(n * sequence.items().size());
  for (size_t i = 0; i < n; ++i) {
    items.insert(items.end(), sequence.items().begin(), sequence.items().end());
  }
  return sequence.is(Kind::kList) ? heap.list(std::move(items)) : heap.tuple(std::move(items));
}

Result<Value> multiply(Interpreter& interpreter, const Value& a, const Value& b) {
  const auto repeatable = [](const Value& v) { return v.is_string() || v.is_sequence(); };
  if (repeatable(a) && b.is_integral()) return repeat(interpreter, a, b);
  if (repeatable(b) && a.is_integral()) return repeat(interpreter, b, a);
  if (repeatable(a) || repeatable(b)) {
    const Value& other = repeatable(a) ? b : a;
    return template_error("can't multiply sequence by non-int of type '{}'", type_name(other));
  }
  return unsupported(BinaryOp::kMultiply, a, b);
}

/// `a | b` does not exist in the language, so views and sets need no operators here.
Result<bool> contains_in_view(Interpreter& interpreter, const ViewObject& view, const Value& item) {
  if (view.part == ViewObject::Part::kKeys) return contains(interpreter, view.dict, item);
  const Dict& dict = view.dict.dict().entries;
  if (view.part == ViewObject::Part::kItems) {
    if (!item.is(Kind::kTuple) || item.items().size() != 2) return false;
    const Value* value = dict.find(item.items()[0]);
    return value != nullptr && equal(*value, item.items()[1]);
  }
  for (const auto& [key, value] : dict.entries()) {
    if (equal(value, item)) return true;
  }
  return false;
}

Result<bool> contains_by_walking(Interpreter& interpreter, const Value& container,
                                 const Value& item) {
  TANDEM_TRY(const auto iterator, interpreter.iterate(container));
  while (true) {
    TANDEM_TRY(const auto next, iterator->next(interpreter));
    if (!next) return false;
    if (equal(*next, item)) return true;
  }
}

}  // namespace

Result<Value> binary(Interpreter& interpreter, BinaryOp op, const Value& a, const Value& b) {
  if (a.is_integral() && b.is_integral()) return integer_arithmetic(op, a.as_int(), b.as_int());
  if (a.is_number() && b.is_number()) return float_arithmetic(op, a.as_double(), b.as_double());
  if (op == BinaryOp::kModulo && a.is_string()) return percent_format(interpreter, a, b);
  for (const Value* value : {&a, &b}) {
    if (value->is_undefined()) return undefined_error(*value);
  }
  if (op == BinaryOp::kAdd) return add(interpreter, a, b);
  if (op == BinaryOp::kMultiply) return multiply(interpreter, a, b);
  return unsupported(op, a, b);
}

Result<Value> unary(char op, const Value& a) {
  if (a.is_undefined()) return undefined_error(a);
  if (a.is(Kind::kFloat)) return Value::real(op == '-' ? -a.as_double() : a.as_double());
  if (!a.is_integral()) {
    return template_error("bad operand type for unary {}: '{}'", op, type_name(a));
  }
  if (op == '+') return Value::integer(a.as_int());
  Int negated;
  if (__builtin_sub_overflow(Int{0}, a.as_int(), &negated)) return too_large();
  return Value::integer(negated);
}

Result<bool> contains(Interpreter& interpreter, const Value& container, const Value& item) {
  switch (container.kind()) {
    case Kind::kString:
      if (!item.is_string()) {
        return template_error("'in <string>' requires string as left operand, not {}",
                              type_name(item));
      }
      interpreter.heap().work_on_text(container.text().size());
      return find_text(container.text(), item.text()) != std::string_view::npos;
    case Kind::kList:
    case Kind::kTuple:
      interpreter.heap().work(container.items().size());
      for (const Value& other : container.items()) {
        if (equal(other, item)) return true;
      }
      return false;
    case Kind::kDict:
      TANDEM_TRY(check_hashable(item));
      return container.dict().entries.find(item) != nullptr;
    case Kind::kView:
      return contains_in_view(interpreter, *container.get<ViewObject>(), item);
    case Kind::kUndefined:
    case Kind::kRange:
    case Kind::kIterator:
      return contains_by_walking(interpreter, container, item);
    default:
      return template_error("argument of type '{}' is not iterable", type_name(container));
  }
}

Result<bool> compare(Interpreter& interpreter, const Value& a, const std::string& op,
                     const Value& b) {
  if (op == "==") return equal(a, b);
  if (op == "!=") return !equal(a, b);
  if (op == "in") return contains(interpreter, b, a);
  if (op == "not in") {
    TANDEM_TRY(const bool inside, contains(interpreter, b, a));
    return !inside;
  }
  return ordered(a, op.c_str(), b);
}

}  // namespace tandem::jinja
