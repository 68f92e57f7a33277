#include "text/chat_template/slices.h"

// Slices of strings, lists, tuples and ranges.

#include <algorithm>

#include "text/chat_template/interpreter.h"
#include "text/chat_template/text_form.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

/// A bound clipped to what can be an index; `otherwise` when it is left out.
Int clipped(const Value& part, Int otherwise, Int size, Int lowest, Int highest) {
  if (part.is_none()) return otherwise;
  Int index = part.as_int();
  if (index < 0) index += size;
  return std::clamp(index, lowest, highest);
}

Value slice_string(Heap& heap, const StringObject& string, const SliceBounds& bounds) {
  const std::string& text = string.text;
  heap.work_on_text(text.size());
  const auto index = [&](size_t i) {
    return static_cast<size_t>(bounds.start + static_cast<Int>(i) * bounds.step);
  };
  if (bounds.step == 1) {
    const size_t begin = string.is_ascii() ? index(0) : byte_offset(text, index(0));
    const std::string_view rest = std::string_view(text).substr(std::min(begin, text.size()));
    const size_t length = string.is_ascii() ? bounds.count : byte_offset(rest, bounds.count);
    return heap.string(std::string(rest.substr(0, length)), string.safe);
  }
  if (!heap.can_hold(6 * text.size())) return Value();
  const std::u32string points = to_code_points(text);
  std::string out;
  for (size_t i = 0; i < bounds.count; ++i) append_utf8(out, points[index(i)]);
  return heap.string(std::move(out), string.safe);
}

Value slice_items(Heap& heap, const Value& sequence, const SliceBounds& bounds) {
  std::vector<Value> items;
  if (!heap.can_hold(bounds.count * sizeof(Value))) return Value();
  items.reserve(bounds.count);
  for (size_t i = 0; i < bounds.count; ++i) {
    const Int index = bounds.start + static_cast<Int>(i) * bounds.step;
    items.push_back(sequence.items()[static_cast<size_t>(index)]);
  }
  return sequence.is(Kind::kList) ? heap.list(std::move(items)) : heap.tuple(std::move(items));
}

Value slice_range(Heap& heap, const RangeObject& range, const SliceBounds& bounds) {
  Int step;
  if (__builtin_mul_overflow(range.step, bounds.step, &step))
    step = range.step;  // one item at most
  return heap.make<RangeObject>(0, 0, range.at(bounds.start), range.at(bounds.stop), step);
}

}  // namespace

size_t sequence_size(const Value& sequence) {
  if (sequence.is_string()) return sequence.string().n_chars;
  if (const auto* range = sequence.get<RangeObject>()) return static_cast<size_t>(range->size());
  return sequence.items().size();
}

Result<SliceBounds> slice_bounds(const Value& start, const Value& stop, const Value& step,
                                 size_t size) {
  for (const Value* part : {&start, &stop, &step}) {
    if (part->is_none() || part->is_integral()) continue;
    return template_error("slice indices must be integers or None or have an __index__ method");
  }
  const Int n = static_cast<Int>(size);
  // A step past the length takes one item whatever it is: clipped, so that sums cannot overflow.
  constexpr Int kLargest = Int{1} << 62;
  const Int by = step.is_none() ? Int{1} : std::clamp(step.as_int(), -kLargest, kLargest);
  if (by == 0) return template_error("slice step cannot be zero");
  const Int lowest = by > 0 ? 0 : -1;
  const Int highest = by > 0 ? n : n - 1;
  const Int from = clipped(start, by > 0 ? 0 : n - 1, n, lowest, highest);
  const Int to = clipped(stop, by > 0 ? n : -1, n, lowest, highest);
  Int count = 0;
  if (by > 0 && from < to) count = (to - from + by - 1) / by;
  if (by < 0 && from > to) count = (from - to - by - 1) / -by;
  return SliceBounds{from, to, by, static_cast<size_t>(count)};
}

Result<Value> get_slice(Interpreter& interpreter, const Value& object, const Value& start,
                        const Value& stop, const Value& step) {
  if (object.is_undefined()) return undefined_error(object);
  if (object.is_dict()) return template_error("unhashable type: 'slice'");
  if (!object.is_string() && !object.is_sequence() && !object.is(Kind::kRange)) {
    return template_error("'{}' object is not subscriptable", type_name(object));
  }
  TANDEM_TRY(const auto bounds, slice_bounds(start, stop, step, sequence_size(object)));
  Heap& heap = interpreter.heap();
  if (object.is_string()) return slice_string(heap, object.string(), bounds);
  if (object.is_sequence()) return slice_items(heap, object, bounds);
  return slice_range(heap, *object.get<RangeObject>(), bounds);
}

}  // namespace tandem::jinja
