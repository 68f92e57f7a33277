#pragma once

#include "text/chat_template/ast.h"
#include "text/chat_template/interpreter.h"

namespace tandem::jinja {

/// The items of `source` for which the condition of a for statement holds.
struct ConditionIterator : IteratorObject {
  ConditionIterator(const ForStatement& statement, Ref<Scope> outer, Ref<IteratorObject> items)
      : node(statement), scope(std::move(outer)), source(std::move(items)) {}
  Result<std::optional<Value>> next(Interpreter& interpreter) override;

  const ForStatement& node;
  const Ref<Scope> scope;
  const Ref<IteratorObject> source;
};

/// The items of a list in order, from the end when `reversed`.
struct VectorIterator : IteratorObject {
  VectorIterator(std::vector<Value> values, std::string_view python_type)
      : items(std::move(values)), type_text(python_type) {}
  Result<std::optional<Value>> next(Interpreter& interpreter) override;
  std::string_view type() const override { return type_text; }

  const std::vector<Value> items;
  const std::string_view type_text;
  size_t at = 0;
};

/// Whether Interpreter::iterate takes the value.
bool is_iterable(const Value& value);

/// Number of items, for values that Python's len() takes.
std::optional<size_t> length_of(const Value& value);

}  // namespace tandem::jinja
