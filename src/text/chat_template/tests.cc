// Tests: what can stand after `is`, and what select and its kin take by name.

#include "text/chat_template/characters.h"
#include "text/chat_template/filter_support.h"
#include "text/chat_template/iterators.h"
#include "text/chat_template/operators.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

/// A test that only looks at the value.
template <bool (*kHolds)(const Value&)>
Result<Value> simple(Interpreter&, const Value& value, const Bound&) {
  return Value::boolean(kHolds(value));
}

bool is_defined(const Value& v) { return !v.is_undefined(); }
bool is_undefined(const Value& v) { return v.is_undefined(); }
bool is_none(const Value& v) { return v.is_none(); }
bool is_boolean(const Value& v) { return v.is(Kind::kBool); }
bool is_false(const Value& v) { return v.is(Kind::kBool) && !v.as_bool(); }
bool is_true(const Value& v) { return v.is(Kind::kBool) && v.as_bool(); }
bool is_integer(const Value& v) { return v.is(Kind::kInt); }
bool is_float(const Value& v) { return v.is(Kind::kFloat); }
bool is_string(const Value& v) { return v.is_string(); }
bool is_mapping(const Value& v) { return v.is_dict(); }
bool is_number(const Value& v) { return v.is_number(); }
bool is_escaped(const Value& v) { return v.is_safe(); }
bool is_callable(const Value& v) {
  return v.is_undefined() || v.is(Kind::kLoop) ||
         (v.is(Kind::kCallable) && v.get<CallableObject>()->type() != "Cycler");
}

/// Anything with a length and subscripts, which an undefined value has too.
bool is_sequence(const Value& v) {
  return v.is_undefined() || v.is_string() || v.is_sequence() || v.is_dict() || v.is(Kind::kRange);
}

bool is_walkable(const Value& v) { return is_iterable(v) || v.is(Kind::kLoop); }

/// Whether all letters are of one case and there is one: str.islower and str.isupper.
bool all_cased(std::string_view text, bool (*wanted)(char32_t), bool (*refused)(char32_t)) {
  bool any = false;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (refused(c) || is_title(c)) return false;
    any |= wanted(c);
  }
  return any;
}

Result<Value> lower(Interpreter& interpreter, const Value& value, const Bound&) {
  const std::string text = to_text(value, interpreter.heap());
  return Value::boolean(all_cased(text, jinja::is_lower, jinja::is_upper));
}

Result<Value> upper(Interpreter& interpreter, const Value& value, const Bound&) {
  const std::string text = to_text(value, interpreter.heap());
  return Value::boolean(all_cased(text, jinja::is_upper, jinja::is_lower));
}

/// value % divisor == remainder.
Result<Value> leaves(Interpreter& interpreter, const Value& value, const Value& divisor,
                     Int remainder) {
  TANDEM_TRY(const Value rest, binary(interpreter, BinaryOp::kModulo, value, divisor));
  TANDEM_TRY(const bool equal, compare(interpreter, rest, "==", Value::integer(remainder)));
  return Value::boolean(equal);
}

Result<Value> odd(Interpreter& interpreter, const Value& value, const Bound&) {
  return leaves(interpreter, value, Value::integer(2), 1);
}

Result<Value> even(Interpreter& interpreter, const Value& value, const Bound&) {
  return leaves(interpreter, value, Value::integer(2), 0);
}

Result<Value> divisible_by(Interpreter& interpreter, const Value& value, const Bound& bound) {
  return leaves(interpreter, value, bound.at(0), 0);
}

Result<Value> same_as(Interpreter&, const Value& value, const Bound& bound) {
  return Value::boolean(value.same_as(bound.at(0)));
}

Result<Value> is_filter(Interpreter&, const Value& value, const Bound&) {
  return Value::boolean(value.is_string() && find_filter(value.text()) != nullptr);
}

Result<Value> is_test(Interpreter&, const Value& value, const Bound&) {
  return Value::boolean(value.is_string() && find_test(value.text()) != nullptr);
}

/// One of the comparison operators as a test. The names spell the operator for the template.
enum class Comparison { kEqual, kNotEqual, kGreater, kGreaterEqual, kLess, kLessEqual, kIn };

template <Comparison kComparison>
Result<Value> compared(Interpreter& interpreter, const Value& value, const Bound& bound) {
  static const std::string kOperators[] = {"==", "!=", ">", ">=", "<", "<=", "in"};
  TANDEM_TRY(const bool holds, compare(interpreter, value,
                                       kOperators[static_cast<size_t>(kComparison)], bound.at(0)));
  return Value::boolean(holds);
}

}  // namespace

std::span<const Builtin> tests() {
  static const std::vector<Parameter> kOther = {{"other", false}};
  static const Builtin kTests[] = {
      {"defined", "test_defined", {}, simple<is_defined>},
      {"undefined", "test_undefined", {}, simple<is_undefined>},
      {"none", "test_none", {}, simple<is_none>},
      {"boolean", "test_boolean", {}, simple<is_boolean>},
      {"false", "test_false", {}, simple<is_false>},
      {"true", "test_true", {}, simple<is_true>},
      {"integer", "test_integer", {}, simple<is_integer>},
      {"float", "test_float", {}, simple<is_float>},
      {"string", "test_string", {}, simple<is_string>},
      {"mapping", "test_mapping", {}, simple<is_mapping>},
      {"number", "test_number", {}, simple<is_number>},
      {"sequence", "test_sequence", {}, simple<is_sequence>},
      {"iterable", "test_iterable", {}, simple<is_walkable>},
      {"callable", "callable", {}, simple<is_callable>},
      {"escaped", "test_escaped", {}, simple<is_escaped>},
      {"lower", "test_lower", {}, lower},
      {"upper", "test_upper", {}, upper},
      {"odd", "test_odd", {}, odd},
      {"even", "test_even", {}, even},
      {"divisibleby", "test_divisibleby", {{"num", false}}, divisible_by},
      {"sameas", "test_sameas", kOther, same_as},
      {"filter", "test_filter", {}, is_filter},
      {"test", "test_test", {}, is_test},
      {"in", "test_in", {{"seq", false}}, compared<Comparison::kIn>},
      {"==", "eq", kOther, compared<Comparison::kEqual>},
      {"eq", "eq", kOther, compared<Comparison::kEqual>},
      {"equalto", "eq", kOther, compared<Comparison::kEqual>},
      {"!=", "ne", kOther, compared<Comparison::kNotEqual>},
      {"ne", "ne", kOther, compared<Comparison::kNotEqual>},
      {">", "gt", kOther, compared<Comparison::kGreater>},
      {"gt", "gt", kOther, compared<Comparison::kGreater>},
      {"greaterthan", "gt", kOther, compared<Comparison::kGreater>},
      {">=", "ge", kOther, compared<Comparison::kGreaterEqual>},
      {"ge", "ge", kOther, compared<Comparison::kGreaterEqual>},
      {"<", "lt", kOther, compared<Comparison::kLess>},
      {"lt", "lt", kOther, compared<Comparison::kLess>},
      {"lessthan", "lt", kOther, compared<Comparison::kLess>},
      {"<=", "le", kOther, compared<Comparison::kLessEqual>},
      {"le", "le", kOther, compared<Comparison::kLessEqual>},
  };
  return kTests;
}

}  // namespace tandem::jinja
