#include "text/chat_template/iterators.h"

// Walks over values: lists, dicts, strings by code point, ranges, lazy sequences.

#include "text/chat_template/text_form.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

/// Walks a value in place; the value keeps what is walked alive.
struct SequenceIterator : IteratorObject {
  explicit SequenceIterator(Value value) : sequence(std::move(value)) {}
  Result<std::optional<Value>> next(Interpreter&) override {
    if (at >= sequence.items().size()) return std::nullopt;
    return sequence.items()[at++];
  }
  const Value sequence;
  size_t at = 0;
};

struct StringIterator : IteratorObject {
  explicit StringIterator(Value value) : string(std::move(value)) {}
  Result<std::optional<Value>> next(Interpreter& interpreter) override {
    const std::string_view text = string.text();
    if (at >= text.size()) return std::nullopt;
    const size_t begin = at;
    next_code_point(text, at);
    return interpreter.heap().string(std::string(text.substr(begin, at - begin)), string.is_safe());
  }
  const Value string;
  size_t at = 0;
};

struct RangeIterator : IteratorObject {
  explicit RangeIterator(Value value) : range(std::move(value)) {}
  Result<std::optional<Value>> next(Interpreter&) override {
    const auto& bounds = *static_cast<const RangeObject*>(range.object());
    if (at >= bounds.size()) return std::nullopt;
    return Value::integer(bounds.at(at++));
  }
  const Value range;
  Int at = 0;
};

struct DictIterator : IteratorObject {
  DictIterator(Value value, ViewObject::Part which) : dict(std::move(value)), part(which) {}
  Result<std::optional<Value>> next(Interpreter& interpreter) override {
    const auto& entries = dict.dict().entries.entries();
    if (at >= entries.size()) return std::nullopt;
    const auto& [key, value] = entries[at++];
    if (part == ViewObject::Part::kKeys) return key;
    if (part == ViewObject::Part::kValues) return value;
    return interpreter.heap().tuple({key, value});
  }
  const Value dict;
  const ViewObject::Part part;
  size_t at = 0;
};

struct EmptyIterator : IteratorObject {
  Result<std::optional<Value>> next(Interpreter&) override { return std::nullopt; }
};

Value make_iterator(Heap& heap, const Value& value) {
  const uint32_t depth = value.depth();
  switch (value.kind()) {
    case Kind::kList:
    case Kind::kTuple:
      return heap.make<SequenceIterator>(0, depth, value);
    case Kind::kString:
      return heap.make<StringIterator>(0, depth, value);
    case Kind::kRange:
      return heap.make<RangeIterator>(0, depth, value);
    case Kind::kDict:
      return heap.make<DictIterator>(0, depth, value, ViewObject::Part::kKeys);
    case Kind::kView: {
      const auto* view = value.get<ViewObject>();
      return heap.make<DictIterator>(0, depth, view->dict, view->part);
    }
    case Kind::kUndefined:
      return heap.make<EmptyIterator>(0, 0);
    default:
      return value;  // an iterator walks itself
  }
}

/// The values of a target's names, in tuples nested as the target is.
Value packed(Interpreter& interpreter, const Target& target, const Scope& scope) {
  if (!target.is_tuple) {
    const Value* value = scope.find(target.name);
    return value != nullptr ? *value : Value();
  }
  std::vector<Value> items;
  for (const Target& item : target.items) items.push_back(packed(interpreter, item, scope));
  return interpreter.heap().tuple(std::move(items));
}

}  // namespace

bool is_iterable(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kString:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kView:
    case Kind::kRange:
    case Kind::kIterator:
      return true;
    default:
      return false;
  }
}

Result<Ref<IteratorObject>> Interpreter::iterate(const Value& value) {
  if (!is_iterable(value)) {
    return template_error("'{}' object is not iterable", type_name(value));
  }
  const Value iterator = make_iterator(heap_, value);
  if (!iterator.is(Kind::kIterator)) return heap_.exhausted_error();  // nested too deeply
  return Ref<IteratorObject>(static_cast<IteratorObject*>(iterator.object()));
}

Result<std::vector<Value>> Interpreter::to_vector(const Value& value) {
  if (value.is_sequence()) {
    heap_.work(value.items().size());
    if (!heap_.can_hold(value.items().size() * sizeof(Value))) return heap_.exhausted_error();
    return value.items();
  }
  TANDEM_TRY(const auto iterator, iterate(value));
  std::vector<Value> items;
  while (true) {
    TANDEM_TRY(tick());
    TANDEM_TRY(auto item, iterator->next(*this));
    if (!item) return items;
    items.push_back(std::move(*item));
    if (!heap_.can_hold(items.size() * sizeof(Value))) return heap_.exhausted_error();
  }
}

Result<std::optional<Value>> ConditionIterator::next(Interpreter& interpreter) {
  while (true) {
    TANDEM_TRY(interpreter.tick());
    TANDEM_TRY(auto item, source->next(interpreter));
    if (!item) return std::nullopt;
    const Ref<Scope> inner = interpreter.make_scope(scope);
    TANDEM_TRY(interpreter.assign_in(node.target, *item, inner));
    TANDEM_TRY(const Value keep, interpreter.evaluate_in(*node.condition, inner));
    if (!truthy(keep)) continue;
    // What comes out is what the target took apart, put together again as tuples.
    if (node.target.is_tuple) return packed(interpreter, node.target, *inner);
    return item;
  }
}

Result<std::optional<Value>> VectorIterator::next(Interpreter&) {
  if (at >= items.size()) return std::nullopt;
  return items[at++];
}

std::optional<size_t> length_of(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return 0;
    case Kind::kString:
      return value.string().n_chars;
    case Kind::kList:
    case Kind::kTuple:
      return value.items().size();
    case Kind::kDict:
      return value.dict().entries.size();
    case Kind::kView:
      return value.get<ViewObject>()->dict.dict().entries.size();
    case Kind::kRange:
      return static_cast<size_t>(value.get<RangeObject>()->size());
    default:
      return std::nullopt;
  }
}

}  // namespace tandem::jinja
