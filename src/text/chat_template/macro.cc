#include "text/chat_template/macro.h"

// Calls of macros: binding of arguments as Jinja2 does it, and native functions as values.

#include <algorithm>

#include "text/chat_template/text_form.h"

namespace tandem::jinja {
namespace {

struct NativeCallable : CallableObject {
  NativeCallable(Value of, std::string_view function_name, NativeFunction f)
      : self(std::move(of)), name(function_name), function(f) {}
  Result<Value> call(Interpreter& interpreter, Arguments& arguments) override {
    return function(interpreter, self, arguments);
  }
  std::string_view type() const override {
    return self.is_none() ? "function" : "builtin_function_or_method";
  }
  std::string repr() const override {
    if (self.is_none()) return fmt::format("<function {}>", name);
    return fmt::format("<built-in method {} of {} object>", name, type_name(self));
  }

  const Value self;
  const std::string name;
  const NativeFunction function;
};

/// Takes a keyword argument out of the call.
std::optional<Value> take(Arguments& arguments, std::string_view name) {
  for (auto at = arguments.named.begin(); at != arguments.named.end(); ++at) {
    if (at->first != name) continue;
    Value value = std::move(at->second);
    arguments.named.erase(at);
    return value;
  }
  return std::nullopt;
}

Result<void> check_rest(const MacroDefinition& macro, const std::string& shown,
                        const Arguments& arguments) {
  if (!macro.uses_kwargs && !arguments.named.empty()) {
    const std::string& name = arguments.named.front().first;
    if (arguments.find("caller") != nullptr) {
      return template_error(
          "macro {} was invoked with two values for the special caller argument. This is most "
          "likely a bug.",
          shown);
    }
    return template_error("macro {} takes no keyword argument '{}'", shown, name);
  }
  if (!macro.uses_varargs && arguments.positional.size() > macro.parameters.size()) {
    return template_error("macro {} takes not more than {} argument(s)", shown,
                          macro.parameters.size());
  }
  return {};
}

}  // namespace

const Value* Arguments::find(std::string_view name) const {
  for (const auto& [key, value] : named) {
    if (key == name) return &value;
  }
  return nullptr;
}

Result<Value> MacroObject::call(Interpreter& interpreter, Arguments& arguments) {
  Heap& heap = interpreter.heap();
  const size_t n_parameters = definition.parameters.size();
  const size_t n_given = std::min(arguments.positional.size(), n_parameters);
  std::vector<Value> values(arguments.positional.begin(), arguments.positional.begin() + n_given);
  bool has_caller_parameter = false;
  for (size_t i = 0; i < n_parameters; ++i) {
    const std::string& name = interpreter.name(definition.parameters[i]);
    has_caller_parameter |= name == "caller";
    if (i < n_given) continue;
    heap.work(arguments.named.size() / 16);
    auto value = take(arguments, name);
    values.push_back(value ? std::move(*value) : heap.make<MissingArgument>(0, 0));
  }
  if (definition.uses_caller && !has_caller_parameter) {
    auto caller = take(arguments, "caller");
    const bool none = !caller || caller->is_none();
    values.push_back(none ? heap.undefined("No caller defined") : std::move(*caller));
  }
  const std::string shown = definition.name.empty() ? "None" : fmt::format("'{}'", definition.name);
  TANDEM_TRY(check_rest(definition, shown, arguments));
  if (definition.uses_kwargs) {
    Dict kwargs;
    for (auto& [name, value] : arguments.named) kwargs.set(heap.string(name), std::move(value));
    values.push_back(heap.dict(std::move(kwargs)));
  }
  if (definition.uses_varargs) {
    values.push_back(heap.tuple(
        std::vector<Value>(arguments.positional.begin() + n_given, arguments.positional.end())));
  }
  return interpreter.invoke_macro(definition, scope, std::move(values), autoescape);
}

std::string MacroObject::repr() const {
  if (definition.name.empty()) return "<Macro anonymous>";
  return fmt::format("<Macro '{}'>", definition.name);
}

std::optional<Value> MacroObject::attribute(Interpreter& interpreter, std::string_view name) {
  Heap& heap = interpreter.heap();
  if (name == "name") return definition.name.empty() ? Value() : heap.string(definition.name);
  if (name == "arguments") {
    std::vector<Value> names;
    for (const uint32_t id : definition.parameters) {
      names.push_back(heap.string(interpreter.name(id)));
    }
    return heap.list(std::move(names));
  }
  if (name == "catch_kwargs") return Value::boolean(definition.uses_kwargs);
  if (name == "catch_varargs") return Value::boolean(definition.uses_varargs);
  if (name == "caller") return Value::boolean(definition.uses_caller);
  return std::nullopt;
}

void bind_special_variables(Interpreter& interpreter, const MacroDefinition& macro, Scope& scope,
                            const std::vector<Value>& values) {
  size_t at = macro.parameters.size();
  const auto has_parameter = [&](std::string_view name) {
    return std::any_of(macro.parameters.begin(), macro.parameters.end(),
                       [&](uint32_t id) { return interpreter.name(id) == name; });
  };
  if (macro.uses_caller && !has_parameter("caller")) {
    scope.set(interpreter.caller_name(), values[at++]);
  }
  if (macro.uses_kwargs) scope.set(interpreter.kwargs_name(), values[at++]);
  if (macro.uses_varargs) scope.set(interpreter.varargs_name(), values[at++]);
}

Value make_method(Heap& heap, Value self, std::string_view name, NativeFunction function) {
  const uint32_t depth = self.depth();
  return heap.make<NativeCallable>(name.size(), depth, std::move(self), name, function);
}

}  // namespace tandem::jinja
