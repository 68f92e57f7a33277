#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/chat_template/ast.h"
#include "text/chat_template/interpreter.h"

namespace tandem::jinja {

/// A macro, or the body of a call block, with the scope it was defined in.
struct MacroObject : CallableObject {
  MacroObject(const MacroDefinition& macro, Ref<Scope> outer, bool autoescape_on)
      : definition(macro), scope(std::move(outer)), autoescape(autoescape_on) {}
  Result<Value> call(Interpreter& interpreter, Arguments& arguments) override;
  std::string_view type() const override { return "Macro"; }
  std::string repr() const override;
  std::optional<Value> attribute(Interpreter& interpreter, std::string_view name) override;

  const MacroDefinition& definition;
  const Ref<Scope> scope;  ///< kept by the heap to the end of the render
  const bool autoescape;
};

/// Stands for an argument that a call left out.
struct MissingArgument : UndefinedObject {
  MissingArgument() : UndefinedObject("missing argument") {}
};

/// Sets caller, kwargs and varargs in the scope of a macro that mentions them, from what call()
/// put behind the parameters.
void bind_special_variables(Interpreter& interpreter, const MacroDefinition& macro, Scope& scope,
                            const std::vector<Value>& values);

/// A function of ours as a value; `self` is what it is a method of, or None.
using NativeFunction = Result<Value> (*)(Interpreter&, const Value& self, Arguments&);
Value make_method(Heap& heap, Value self, std::string_view name, NativeFunction function);

}  // namespace tandem::jinja
