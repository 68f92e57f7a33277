// Filters on sequences: first, last, length, list, join, reverse, batch, slice, sum, items.

#include <algorithm>

#include "text/chat_template/filter_support.h"
#include "text/chat_template/iterators.h"
#include "text/chat_template/operators.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

Result<Value> first(Interpreter& interpreter, const Value& input, const Bound&) {
  TANDEM_TRY(const auto iterator, interpreter.iterate(input));
  TANDEM_TRY(auto item, iterator->next(interpreter));
  if (item) return std::move(*item);
  return interpreter.heap().undefined("No first item, sequence was empty.");
}

Result<Value> last(Interpreter& interpreter, const Value& input, const Bound&) {
  if (!length_of(input)) {
    return template_error("'{}' object is not reversible", type_name(input));
  }
  TANDEM_TRY(auto items, interpreter.to_vector(input));
  if (!items.empty()) return std::move(items.back());
  return interpreter.heap().undefined("No last item, sequence was empty.");
}

Result<Value> length(Interpreter& interpreter, const Value& input, const Bound&) {
  if (auto* loop = input.get<LoopBase>()) return loop->attribute(interpreter, "length");
  const auto n = length_of(input);
  if (n) return Value::integer(static_cast<Int>(*n));
  return template_error("object of type '{}' has no len()", type_name(input));
}

Result<Value> list(Interpreter& interpreter, const Value& input, const Bound&) {
  TANDEM_TRY(auto items, interpreter.to_vector(input));
  return interpreter.heap().list(std::move(items));
}

std::string_view reversed_type(const Value& input) {
  if (input.is(Kind::kList)) return "list_reverseiterator";
  if (input.is_dict()) return "dict_reversekeyiterator";
  if (input.is(Kind::kRange)) return "range_iterator";
  return "reversed";
}

Result<Value> reverse(Interpreter& interpreter, const Value& input, const Bound&) {
  Heap& heap = interpreter.heap();
  if (input.is_string()) {
    TANDEM_TRY(heap.make_room(6 * input.text().size()));
    const std::u32string points = to_code_points(input.text());
    std::string out;
    for (auto c = points.rbegin(); c != points.rend(); ++c) append_utf8(out, *c);
    return heap.string(std::move(out), input.is_safe());
  }
  if (!is_iterable(input)) return template_error("argument must be iterable");
  TANDEM_TRY(auto items, interpreter.to_vector(input));
  std::reverse(items.begin(), items.end());
  if (input.is(Kind::kIterator)) return heap.list(std::move(items));
  const size_t bytes = items.size() * sizeof(Value);
  return heap.make<VectorIterator>(bytes, input.depth(), std::move(items), reversed_type(input));
}

Result<Value> join(Interpreter& interpreter, const Value& input, const Bound& bound) {
  Heap& heap = interpreter.heap();
  const AttributePath path(heap, bound[1]);
  TANDEM_TRY(auto items, interpreter.to_vector(input));
  bool any_safe = false;
  for (Value& item : items) {
    TANDEM_TRY(item, path.follow(interpreter, item));
    any_safe |= item.is_safe();
  }
  const Value separator = bound[0] != nullptr ? *bound[0] : heap.string("");
  const bool safe = interpreter.autoescape() && (any_safe || separator.is_safe());
  const std::string between = safe ? escaped_text(separator, heap) : to_text(separator, heap);
  TextBuilder out(heap);
  for (size_t i = 0; i < items.size() && !out.full(); ++i) {
    if (i > 0) out.append(between);
    if (safe) {
      out.append(escaped_text(items[i], heap));
    } else {
      append_text(items[i], out);
    }
  }
  return heap.string(out.take(), safe);
}

Result<std::vector<Value>> batches(Interpreter& interpreter, const Value& input,
                                   const Bound& bound) {
  Heap& heap = interpreter.heap();
  TANDEM_TRY(const auto items, interpreter.to_vector(input));
  TANDEM_TRY(const Int per_line, int_argument(bound[0], 0));
  std::vector<Value> lines;
  std::vector<Value> line;
  for (const Value& item : items) {
    if (static_cast<Int>(line.size()) == per_line) {
      lines.push_back(heap.list(std::exchange(line, {})));
    }
    line.push_back(item);
  }
  if (line.empty()) return lines;
  if (bound[1] != nullptr && !bound[1]->is_none() && static_cast<Int>(line.size()) < per_line) {
    const Int missing = per_line - static_cast<Int>(line.size());
    const auto limit = static_cast<Int>(heap.limits().max_memory_bytes / sizeof(Value));
    if (!heap.can_hold(static_cast<size_t>(std::min(missing, limit)) * sizeof(Value))) {
      return heap.exhausted_error();
    }
    line.insert(line.end(), static_cast<size_t>(missing), *bound[1]);
  }
  lines.push_back(heap.list(std::move(line)));
  return lines;
}

Result<Value> batch(Interpreter& interpreter, const Value& input, const Bound& bound) {
  return make_generator(interpreter.heap(), input, bound, batches);
}

Result<std::vector<Value>> slices(Interpreter& interpreter, const Value& input,
                                  const Bound& bound) {
  Heap& heap = interpreter.heap();
  TANDEM_TRY(const auto items, interpreter.to_vector(input));
  TANDEM_TRY(const Int n_slices, int_argument(bound[0], 0));
  std::vector<Value> columns;
  if (n_slices == 0) return template_error("integer division or modulo by zero");
  if (n_slices < 0) return columns;
  const Int size = static_cast<Int>(items.size());
  const Int per_slice = size / n_slices, n_longer = size % n_slices;
  const bool fill = bound[1] != nullptr && !bound[1]->is_none();
  Int offset = 0;
  for (Int i = 0; i < n_slices; ++i) {
    TANDEM_TRY(interpreter.tick());
    const Int start = offset + i * per_slice;
    if (i < n_longer) ++offset;
    const Int end = offset + (i + 1) * per_slice;
    std::vector<Value> column(items.begin() + static_cast<ptrdiff_t>(start),
                              items.begin() + static_cast<ptrdiff_t>(end));
    if (fill && i >= n_longer) column.push_back(*bound[1]);
    columns.push_back(heap.list(std::move(column)));
  }
  return columns;
}

Result<Value> slice(Interpreter& interpreter, const Value& input, const Bound& bound) {
  return make_generator(interpreter.heap(), input, bound, slices);
}

Result<Value> sum(Interpreter& interpreter, const Value& input, const Bound& bound) {
  const AttributePath path(interpreter.heap(), bound[0]);
  Value total = bound[1] != nullptr ? *bound[1] : Value::integer(0);
  if (total.is_string()) {
    return template_error("sum() can't sum strings [use ''.join(seq) instead]");
  }
  TANDEM_TRY(const auto iterator, interpreter.iterate(input));
  while (true) {
    TANDEM_TRY(interpreter.tick());
    TANDEM_TRY(const auto item, iterator->next(interpreter));
    if (!item) return total;
    TANDEM_TRY(const Value value, path.follow(interpreter, *item));
    TANDEM_TRY(total, binary(interpreter, BinaryOp::kAdd, total, value));
  }
}

Result<std::vector<Value>> pairs(Interpreter& interpreter, const Value& input, const Bound&) {
  std::vector<Value> out;
  if (input.is_undefined()) return out;
  if (!input.is_dict()) return template_error("Can only get item pairs from a mapping.");
  for (const auto& [key, value] : input.dict().entries.entries()) {
    out.push_back(interpreter.heap().tuple({key, value}));
  }
  return out;
}

Result<Value> items(Interpreter& interpreter, const Value& input, const Bound& bound) {
  return make_generator(interpreter.heap(), input, bound, pairs);
}

Result<Value> random(Interpreter&, const Value&, const Bound&) {
  return failure(ErrorCode::kUnsupported,
                 "the random filter is unsupported: a prompt must not depend on chance");
}

}  // namespace

std::span<const Builtin> sequence_filters() {
  static const Builtin kFilters[] = {
      {"first", "do_first", {}, first},
      {"last", "do_last", {}, last},
      {"length", "len", {}, length},
      {"count", "len", {}, length},
      {"list", "do_list", {}, list},
      {"reverse", "do_reverse", {}, reverse},
      {"join", "do_join", {{"d"}, {"attribute"}}, join},
      {"batch", "do_batch", {{"linecount", false}, {"fill_with"}}, batch},
      {"slice", "do_slice", {{"slices", false}, {"fill_with"}}, slice},
      {"sum", "do_sum", {{"attribute"}, {"start"}}, sum},
      {"items", "do_items", {}, items},
      {"random", "do_random", {}, random},
  };
  return kFilters;
}

}  // namespace tandem::jinja
