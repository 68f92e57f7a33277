// Methods of lists, tuples, ranges, dicts and numbers.

#include <algorithm>
#include <cmath>

#include "text/chat_template/compare.h"
#include "text/chat_template/filter_support.h"
#include "text/chat_template/methods.h"

namespace tandem::jinja {
namespace {

Result<Value> count(Interpreter& interpreter, const Value& self, const Bound& bound) {
  TANDEM_TRY(const auto items, interpreter.to_vector(self));
  const auto n = std::count_if(items.begin(), items.end(),
                               [&](const Value& item) { return equal(item, bound.at(0)); });
  return Value::integer(n);
}

Result<Value> index(Interpreter& interpreter, const Value& self, const Bound& bound) {
  TANDEM_TRY(const auto items, interpreter.to_vector(self));
  const Int size = static_cast<Int>(items.size());
  TANDEM_TRY(Int start, int_argument(bound[1], 0));
  TANDEM_TRY(Int stop, int_argument(bound[2], size));
  if (start < 0) start = std::max<Int>(0, start + size);
  if (stop < 0) stop += size;
  for (Int i = start; i < std::min(stop, size); ++i) {
    if (equal(items[static_cast<size_t>(i)], bound.at(0))) return Value::integer(i);
  }
  if (self.is(Kind::kTuple)) return template_error("tuple.index(x): x not in tuple");
  return template_error("{} is not in {}", to_repr(bound.at(0), interpreter.heap()),
                        type_name(self));
}

Result<Value> copy(Interpreter&, const Value& self, const Bound&) {
  return self;  // nothing can change it
}

Result<Value> get(Interpreter&, const Value& self, const Bound& bound) {
  TANDEM_TRY(check_hashable(bound.at(0)));
  if (const Value* value = self.dict().entries.find(bound.at(0))) return *value;
  return bound[1] != nullptr ? *bound[1] : Value();
}

template <ViewObject::Part kPart>
Result<Value> view(Interpreter& interpreter, const Value& self, const Bound&) {
  return interpreter.heap().make<ViewObject>(0, self.depth(), self, kPart);
}

Result<Value> bit_length(Interpreter&, const Value& self, const Bound&) {
  Int value = self.as_int();
  Int n = 0;
  for (; value != 0; value /= 2) ++n;
  return Value::integer(n);
}

Result<Value> is_integer(Interpreter&, const Value& self, const Bound&) {
  const double value = self.as_double();
  return Value::boolean(std::isfinite(value) && std::trunc(value) == value);
}

Result<Value> number_itself(Interpreter&, const Value& self, const Bound&) { return self; }

}  // namespace

std::span<const Builtin> sequence_methods() {
  static const Builtin kMethods[] = {
      {"count", "count", {{"value", false}}, count},
      {"index", "index", {{"value", false}, {"start"}, {"stop"}}, index},
      {"copy", "copy", {}, copy},
  };
  return kMethods;
}

std::span<const Builtin> dict_methods() {
  static const Builtin kMethods[] = {
      {"get", "get", {{"key", false}, {"default"}}, get},
      {"keys", "keys", {}, view<ViewObject::Part::kKeys>},
      {"values", "values", {}, view<ViewObject::Part::kValues>},
      {"items", "items", {}, view<ViewObject::Part::kItems>},
      {"copy", "copy", {}, copy},
  };
  return kMethods;
}

std::span<const Builtin> int_methods() {
  static const Builtin kMethods[] = {
      {"bit_length", "bit_length", {}, bit_length},
      {"conjugate", "conjugate", {}, number_itself},
  };
  return kMethods;
}

std::span<const Builtin> float_methods() {
  static const Builtin kMethods[] = {
      {"is_integer", "is_integer", {}, is_integer},
      {"conjugate", "conjugate", {}, number_itself},
  };
  return kMethods;
}

}  // namespace tandem::jinja
