#pragma once

#include <optional>
#include <string>

#include "text/chat_template/ast.h"
#include "text/chat_template/interpreter.h"

namespace tandem::jinja {

/// `loop`: counts the rounds of one for statement and looks one item ahead when asked.
struct LoopObject : LoopBase, Clearable {
  LoopObject(const ForStatement& statement, Ref<Scope> outer, Ref<IteratorObject> items,
             Value sequence, uint32_t depth)
      : node_(statement),
        scope_(std::move(outer)),
        items_(std::move(items)),
        sequence_(std::move(sequence)),
        depth_(depth) {}

  /// The next item; nothing at the end.
  Result<std::optional<Value>> advance(Interpreter& interpreter);

  Result<Value> attribute(Interpreter& interpreter, std::string_view name) override;
  Result<Value> call(Interpreter& interpreter, Arguments& arguments) override;
  std::string repr() const override;

  void clear_references() override { last_changed_.reset(); }

  Result<Value> cycle(Arguments& arguments) const;
  Result<Value> changed(Interpreter& interpreter, Arguments& arguments);

 private:
  Result<size_t> length(Interpreter& interpreter);
  Result<const std::optional<Value>*> peek(Interpreter& interpreter);

  const ForStatement& node_;
  const Ref<Scope> scope_;  ///< where the statement stands; recursion runs there
  Ref<IteratorObject> items_;
  const Value sequence_;
  const uint32_t depth_;
  int64_t index0_ = -1;
  std::optional<Value> ahead_;  ///< looked at, not yet handed out
  std::optional<Value> before_, current_;
  std::optional<size_t> length_;
  std::optional<Value> last_changed_;  ///< a tuple of what changed() saw; may hold this loop
  bool kept_ = false;
};

}  // namespace tandem::jinja
