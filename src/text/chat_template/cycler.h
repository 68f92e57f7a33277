#pragma once

#include <vector>

#include "text/chat_template/interpreter.h"

namespace tandem::jinja {

/// cycler(...): hands out its items in turn, without end.
struct CyclerObject : CallableObject {
  explicit CyclerObject(std::vector<Value> values) : items(std::move(values)) {}
  Result<Value> call(Interpreter& interpreter, Arguments& arguments) override;
  std::string_view type() const override { return "Cycler"; }
  std::string repr() const override { return "<jinja2.utils.Cycler object>"; }
  std::optional<Value> attribute(Interpreter& interpreter, std::string_view name) override;
  Value next();

  const std::vector<Value> items;
  size_t position = 0;
};

/// joiner(sep): empty text at its first call, the separator afterwards.
struct JoinerObject : CallableObject {
  explicit JoinerObject(Value text) : separator(std::move(text)) {}
  Result<Value> call(Interpreter& interpreter, Arguments& arguments) override;
  std::string_view type() const override { return "Joiner"; }
  std::string repr() const override { return "<jinja2.utils.Joiner object>"; }

  const Value separator;
  bool used = false;
};

}  // namespace tandem::jinja
