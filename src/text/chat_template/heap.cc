#include "text/chat_template/heap.h"

// Accounting of steps and memory of one render.

#include <algorithm>

#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

/// Deepest nesting of lists and dicts: bounds the recursion of printing, comparing and deleting.
constexpr uint32_t kMaxNesting = 250;
constexpr uint32_t kMaxNamespaceNesting = 20;  ///< each may hold kMaxNesting levels

uint32_t deepest(const std::vector<Value>& items) {
  uint32_t depth = 0;
  for (const Value& item : items) depth = std::max(depth, item.depth());
  return depth;
}

}  // namespace

Heap::~Heap() { clear_kept(); }

Value Heap::adopt(Ref<Object> object, size_t bytes, uint32_t depth) {
  object->depth = depth;
  charge(*object, bytes);
  if (depth > kMaxNesting) {
    note_exhausted(Limit::kNesting);
    return Value();
  }
  return Value::object(std::move(object));
}

void Heap::charge(Object& object, size_t bytes) {
  object.heap = this;
  object.charged += bytes;
  live_bytes_ += bytes;
  if (live_bytes_ > limits_.max_memory_bytes) note_exhausted(Limit::kMemory);
}

bool Heap::can_hold(size_t bytes) {
  if (live_bytes_ <= limits_.max_memory_bytes && bytes <= limits_.max_memory_bytes - live_bytes_) {
    return true;
  }
  note_exhausted(Limit::kMemory);
  return false;
}

Value Heap::string(std::string text, bool safe) {
  const size_t bytes = text.capacity();
  work_on_text(text.size());
  return make<StringObject>(bytes, 0, std::move(text), safe);
}

Value Heap::sequence(Kind kind, std::vector<Value> items) {
  const size_t bytes = items.capacity() * sizeof(Value);
  const uint32_t depth = deepest(items);
  work(items.size());
  return make<SequenceObject>(bytes, depth, kind, std::move(items));
}

Value Heap::dict(Dict entries) {
  constexpr size_t kEntryBytes = 2 * sizeof(Value) + 32;  // and its place in the index
  uint32_t depth = 0;
  for (const auto& [key, value] : entries.entries()) {
    depth = std::max({depth, key.depth(), value.depth()});
  }
  work(entries.size());
  const size_t bytes = entries.size() * kEntryBytes;
  return make<DictObject>(bytes, depth, std::move(entries));
}

Value Heap::undefined(std::string message) {
  const size_t bytes = message.capacity();
  return make<UndefinedObject>(bytes, 0, std::move(message));
}

tl::unexpected<Error> Heap::exhausted_error() const {
  switch (exhausted_) {
    case Limit::kSteps:
      return failure(ErrorCode::kUnsupported, "the template needs more than {} steps",
                     limits_.max_steps);
    case Limit::kMemory:
      return failure(ErrorCode::kUnsupported, "the template needs more than {} bytes of memory",
                     limits_.max_memory_bytes);
    case Limit::kNesting:
      return failure(ErrorCode::kUnsupported, "values are nested deeper than {} levels",
                     kMaxNesting);
    case Limit::kOutput:
      return failure(ErrorCode::kUnsupported, "the rendered text is longer than {} bytes",
                     limits_.max_output_bytes);
    case Limit::kDepth:
    case Limit::kNone:
      break;
  }
  return failure(ErrorCode::kUnsupported, "evaluation is nested deeper than {} levels",
                 limits_.max_depth);
}

void Heap::keep(Ref<Object> object, Clearable* clearable) {
  kept_.emplace_back(std::move(object), clearable);
}

void Heap::clear_kept() {
  for (auto& [object, clearable] : kept_) clearable->clear_references();
  kept_.clear();
}

bool TextBuilder::has_room(size_t bytes) {
  heap_.work(1);
  // Growth doubles the buffer: what is asked for is the worst case of that.
  if (!full_ && !heap_.exhausted() && heap_.can_hold(text_.size() + bytes)) return true;
  full_ = true;
  return false;
}

void TextBuilder::append(std::string_view text) {
  if (has_room(text.size())) text_ += text;
}

void TextBuilder::append(size_t count, char c) {
  if (has_room(count)) text_.append(count, c);
}

bool TextBuilder::enter_namespace() {
  if (++namespace_depth_ <= kMaxNamespaceNesting) return true;
  heap_.note_exhausted(Heap::Limit::kNesting);
  full_ = true;
  return false;
}

void TextBuilder::append_char(char32_t c) {
  if (has_room(4)) append_utf8(text_, c);
}

}  // namespace tandem::jinja
