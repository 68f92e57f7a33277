#include "text/chat_template/loop.h"

// The `loop` variable of for statements.

#include "text/chat_template/compare.h"
#include "text/chat_template/iterators.h"
#include "text/chat_template/macro.h"
#include "text/chat_template/text_form.h"

namespace tandem::jinja {

Result<std::optional<Value>> LoopObject::advance(Interpreter& interpreter) {
  std::optional<Value> item;
  if (ahead_) {
    item = std::move(ahead_);
    ahead_.reset();
  } else {
    TANDEM_TRY(item, items_->next(interpreter));
  }
  if (!item) return item;
  ++index0_;
  before_ = std::move(current_);
  current_ = item;
  return item;
}

Result<const std::optional<Value>*> LoopObject::peek(Interpreter& interpreter) {
  if (!ahead_) {
    TANDEM_TRY(ahead_, items_->next(interpreter));
  }
  return &ahead_;
}

/// Walks a lazy sequence to its end to know how long it is, as Jinja2 does.
Result<size_t> LoopObject::length(Interpreter& interpreter) {
  if (length_) return *length_;
  length_ = length_of(sequence_);
  if (length_) return *length_;
  std::vector<Value> rest;
  while (true) {
    TANDEM_TRY(interpreter.tick());
    TANDEM_TRY(auto item, items_->next(interpreter));
    if (!item) break;
    rest.push_back(std::move(*item));
  }
  length_ = rest.size() + static_cast<size_t>(index0_ + 1) + (ahead_ ? 1 : 0);
  const Value iterator = interpreter.heap().make<VectorIterator>(
      rest.size() * sizeof(Value), sequence_.depth(), std::move(rest), "generator");
  if (!iterator.is(Kind::kIterator)) return interpreter.heap().exhausted_error();
  items_ = Ref<IteratorObject>(static_cast<IteratorObject*>(iterator.object()));
  return *length_;
}

Result<Value> LoopObject::attribute(Interpreter& interpreter, std::string_view name) {
  Heap& heap = interpreter.heap();
  if (name == "index0") return Value::integer(index0_);
  if (name == "index") return Value::integer(index0_ + 1);
  if (name == "first") return Value::boolean(index0_ == 0);
  if (name == "depth0") return Value::integer(depth_);
  if (name == "depth") return Value::integer(depth_ + 1);
  if (name == "last" || name == "nextitem") {
    TANDEM_TRY(const auto* next, peek(interpreter));
    if (name == "last") return Value::boolean(!next->has_value());
    return *next ? **next : heap.undefined("there is no next item");
  }
  if (name == "previtem") return before_ ? *before_ : heap.undefined("there is no previous item");
  if (name == "length" || name == "revindex" || name == "revindex0") {
    TANDEM_TRY(const size_t n, length(interpreter));
    const auto total = static_cast<Int>(n);
    if (name == "length") return Value::integer(total);
    return Value::integer(total - index0_ - (name == "revindex0" ? 1 : 0));
  }
  const Value self = Value::object(Ref<Object>(this));
  if (name == "cycle") {
    return make_method(heap, self, "cycle", [](Interpreter&, const Value& loop, Arguments& a) {
      return loop.get<LoopObject>()->cycle(a);
    });
  }
  if (name == "changed") {
    return make_method(heap, self, "changed", [](Interpreter& i, const Value& loop, Arguments& a) {
      return loop.get<LoopObject>()->changed(i, a);
    });
  }
  return heap.undefined(
      fmt::format("'jinja2.runtime.LoopContext object' has no attribute '{}'", name));
}

Result<Value> LoopObject::cycle(Arguments& arguments) const {
  if (arguments.positional.empty()) return template_error("no items for cycling given");
  const auto index = static_cast<size_t>(index0_ < 0 ? 0 : index0_);
  return arguments.positional[index % arguments.positional.size()];
}

Result<Value> LoopObject::changed(Interpreter& interpreter, Arguments& arguments) {
  if (!std::exchange(kept_, true)) interpreter.heap().keep(Ref<Object>(this), this);
  const Value now = interpreter.heap().tuple(arguments.positional);
  if (last_changed_ && equal(*last_changed_, now)) return Value::boolean(false);
  last_changed_ = now;
  return Value::boolean(true);
}

Result<Value> LoopObject::call(Interpreter& interpreter, Arguments& arguments) {
  if (!node_.recursive) {
    return template_error("The loop must have the 'recursive' marker to be called recursively.");
  }
  if (arguments.positional.size() != 1 || !arguments.named.empty()) {
    return template_error("loop() takes exactly one argument ({} given)",
                          arguments.positional.size() + arguments.named.size());
  }
  return interpreter.render_loop(node_, scope_, arguments.positional[0], depth_ + 1);
}

std::string LoopObject::repr() const {
  const auto n = length_ ? length_ : length_of(sequence_);
  return fmt::format("<LoopContext {}/{}>", index0_ + 1, n ? std::to_string(*n) : "?");
}

}  // namespace tandem::jinja
