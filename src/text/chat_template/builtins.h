#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/chat_template/objects.h"
#include "text/chat_template/value.h"

namespace tandem::jinja {

class Interpreter;

/// A parameter of a builtin: its name and whether a call may leave it out.
struct Parameter {
  std::string_view name;
  bool optional = true;
};

/// Arguments of one call, bound to the parameters; `[i]` is null for a parameter left out.
class Bound {
 public:
  static constexpr size_t kMaxParameters = 7;
  const Value* operator[](size_t i) const { return given_[i] ? &values_[i] : nullptr; }
  const Value& at(size_t i) const { return values_[i]; }

 private:
  friend Result<Bound> bind_arguments(std::string_view, std::span<const Parameter>, Arguments&);
  Value values_[kMaxParameters];
  bool given_[kMaxParameters] = {};
};

/// Python's binding of arguments to parameters; errors are TypeErrors that name the function.
Result<Bound> bind_arguments(std::string_view function, std::span<const Parameter> parameters,
                             Arguments& arguments);

/// A filter or a test. `function` gets the value to the left of | or is, and bound arguments; a
/// builtin with `raw` set instead gets the arguments as they were written.
struct Builtin {
  std::string_view name;
  std::string_view python_name;  ///< for messages about arguments
  std::vector<Parameter> parameters;
  Result<Value> (*function)(Interpreter&, const Value& input, const Bound&) = nullptr;
  Result<Value> (*raw)(Interpreter&, const Value& input, Arguments&) = nullptr;
};

/// Null when there is none of that name.
const Builtin* find_filter(std::string_view name);
const Builtin* find_test(std::string_view name);

Result<Value> call_builtin(Interpreter& interpreter, const Builtin& builtin, const Value& input,
                           Arguments& arguments);

/// The tables that find_filter and find_test search, one for each source file of filters.
std::span<const Builtin> text_filters();
std::span<const Builtin> layout_filters();
std::span<const Builtin> sequence_filters();
std::span<const Builtin> lazy_filters();
std::span<const Builtin> sorting_filters();
std::span<const Builtin> number_filters();
std::span<const Builtin> markup_filters();
std::span<const Builtin> json_filters();
std::span<const Builtin> tests();

/// Functions every template can call: range, dict, namespace, raise_exception, strftime_now, ...
/// None when the name is no function.
Value find_global(Interpreter& interpreter, std::string_view name);

}  // namespace tandem::jinja
