#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/chat_template/value.h"

namespace tandem::jinja {

class Interpreter;

/// The arguments of a call as the template wrote them.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;

  const Value* find(std::string_view name) const;
};

/// Something that can be called: a function, a macro, a bound method.
struct CallableObject : Object {
  CallableObject() : Object(Kind::kCallable) {}
  virtual Result<Value> call(Interpreter& interpreter, Arguments& arguments) = 0;
  /// Python's name of the type, its repr, and its data attributes.
  virtual std::string_view type() const = 0;
  virtual std::string repr() const = 0;
  virtual std::optional<Value> attribute(Interpreter&, std::string_view) { return std::nullopt; }
};

/// Produces values one at a time; a copy of the Value shares the position.
struct IteratorObject : Object {
  IteratorObject() : Object(Kind::kIterator) {}
  /// The next value, or nothing at the end.
  virtual Result<std::optional<Value>> next(Interpreter& interpreter) = 0;
  /// Python's name of the type ("generator", "list_reverseiterator").
  virtual std::string_view type() const { return "generator"; }
};

/// `loop` inside a for statement.
struct LoopBase : Object {
  LoopBase() : Object(Kind::kLoop) {}
  virtual Result<Value> attribute(Interpreter& interpreter, std::string_view name) = 0;
  virtual Result<Value> call(Interpreter& interpreter, Arguments& arguments) = 0;
  virtual std::string repr() const = 0;
};

}  // namespace tandem::jinja
