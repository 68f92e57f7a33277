#include "text/chat_template/builtins.h"

// Binding of arguments, and the registry of filters and tests.

#include "text/chat_template/heap.h"
#include "text/chat_template/interpreter.h"

namespace tandem::jinja {
namespace {

const Builtin* find_in(std::span<const Builtin> table, std::string_view name) {
  for (const Builtin& builtin : table) {
    if (builtin.name == name) return &builtin;
  }
  return nullptr;
}

}  // namespace

Result<Bound> bind_arguments(std::string_view function, std::span<const Parameter> parameters,
                             Arguments& arguments) {
  Bound bound;
  if (arguments.positional.size() > parameters.size()) {
    return template_error("{}() takes at most {} argument(s) ({} given)", function,
                          parameters.size(), arguments.positional.size());
  }
  for (size_t i = 0; i < arguments.positional.size(); ++i) {
    bound.values_[i] = std::move(arguments.positional[i]);
    bound.given_[i] = true;
  }
  for (auto& [name, value] : arguments.named) {
    size_t i = 0;
    while (i < parameters.size() && parameters[i].name != name) ++i;
    if (i == parameters.size()) {
      return template_error("{}() got an unexpected keyword argument '{}'", function, name);
    }
    if (bound.given_[i]) {
      return template_error("{}() got multiple values for argument '{}'", function, name);
    }
    bound.values_[i] = std::move(value);
    bound.given_[i] = true;
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (bound.given_[i] || parameters[i].optional) continue;
    return template_error("{}() missing 1 required positional argument: '{}'", function,
                          parameters[i].name);
  }
  return bound;
}

const Builtin* find_filter(std::string_view name) {
  for (const auto table : {text_filters(), layout_filters(), sequence_filters(), lazy_filters(),
                           sorting_filters(), number_filters(), markup_filters(), json_filters()}) {
    if (const Builtin* builtin = find_in(table, name)) return builtin;
  }
  return nullptr;
}

const Builtin* find_test(std::string_view name) { return find_in(tests(), name); }

Result<Value> call_builtin(Interpreter& interpreter, const Builtin& builtin, const Value& input,
                           Arguments& arguments) {
  if (builtin.raw != nullptr) return builtin.raw(interpreter, input, arguments);
  const std::string_view name = builtin.python_name.empty() ? builtin.name : builtin.python_name;
  TANDEM_TRY(const Bound bound, bind_arguments(name, builtin.parameters, arguments));
  return builtin.function(interpreter, input, bound);
}

}  // namespace tandem::jinja
