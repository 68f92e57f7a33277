// Filters that order values: sort, dictsort, groupby, min, max.

#include <algorithm>

#include "text/chat_template/compare.h"
#include "text/chat_template/filter_support.h"

namespace tandem::jinja {
namespace {

struct Keyed {
  Value key;
  Value item;
};

/// Merges two sorted neighbours. Fails when two keys have no order.
Result<void> merge(Interpreter& interpreter, std::vector<Keyed>& items, size_t begin, size_t middle,
                   size_t end) {
  std::vector<Keyed> merged;
  merged.reserve(end - begin);
  size_t left = begin, right = middle;
  while (left < middle && right < end) {
    TANDEM_TRY(interpreter.tick());
    TANDEM_TRY(const bool right_first, ordered(items[right].key, "<", items[left].key));
    merged.push_back(std::move(items[right_first ? right++ : left++]));
  }
  for (; left < middle; ++left) merged.push_back(std::move(items[left]));
  for (; right < end; ++right) merged.push_back(std::move(items[right]));
  std::move(merged.begin(), merged.end(), items.begin() + static_cast<ptrdiff_t>(begin));
  return {};
}

/// A stable merge sort by "<" alone, as Python sorts. (std::stable_sort cannot fail.)
Result<void> sort_keyed(Interpreter& interpreter, std::vector<Keyed>& items, size_t begin,
                        size_t end) {
  if (end - begin < 2) return {};
  const size_t middle = begin + (end - begin) / 2;
  TANDEM_TRY(sort_keyed(interpreter, items, begin, middle));
  TANDEM_TRY(sort_keyed(interpreter, items, middle, end));
  return merge(interpreter, items, begin, middle, end);
}

Result<std::vector<Value>> sorted(Interpreter& interpreter, std::vector<Keyed> items,
                                  bool reverse) {
  // Reversed before and after: equal items keep their order, as in Python.
  if (reverse) std::reverse(items.begin(), items.end());
  TANDEM_TRY(sort_keyed(interpreter, items, 0, items.size()));
  if (reverse) std::reverse(items.begin(), items.end());
  std::vector<Value> out;
  out.reserve(items.size());
  for (Keyed& keyed : items) out.push_back(std::move(keyed.item));
  return out;
}

/// Key of an item under several attributes ("a,b.c"): a list, in Python's order of lists.
class SortKey {
 public:
  SortKey(Heap& heap, const Value* attribute, bool case_sensitive)
      : case_sensitive_(case_sensitive) {
    if (attribute == nullptr || !attribute->is_string()) {
      paths_.emplace_back(heap, attribute);
      return;
    }
    std::string_view rest = attribute->text();
    while (true) {
      const size_t comma = rest.find(',');
      const Value part = heap.string(std::string(rest.substr(0, comma)));
      paths_.emplace_back(heap, &part);
      if (comma == std::string_view::npos) return;
      rest.remove_prefix(comma + 1);
    }
  }

  Result<Value> of(Interpreter& interpreter, const Value& item) const {
    std::vector<Value> keys;
    for (const AttributePath& path : paths_) {
      TANDEM_TRY(Value key, path.follow(interpreter, item));
      keys.push_back(case_sensitive_ ? key : without_case(interpreter.heap(), key));
    }
    return interpreter.heap().list(std::move(keys));
  }

 private:
  std::vector<AttributePath> paths_;
  bool case_sensitive_;
};

bool flag(const Bound& bound, size_t i) { return bound[i] != nullptr && truthy(*bound[i]); }

Result<Value> sort(Interpreter& interpreter, const Value& input, const Bound& bound) {
  const SortKey key(interpreter.heap(), bound[2], flag(bound, 1));
  TANDEM_TRY(const auto items, interpreter.to_vector(input));
  std::vector<Keyed> keyed;
  for (const Value& item : items) {
    TANDEM_TRY(Value k, key.of(interpreter, item));
    keyed.push_back({std::move(k), item});
  }
  TANDEM_TRY(auto out, sorted(interpreter, std::move(keyed), flag(bound, 0)));
  return interpreter.heap().list(std::move(out));
}

Result<Value> dict_sort(Interpreter& interpreter, const Value& input, const Bound& bound) {
  Heap& heap = interpreter.heap();
  const std::string by = bound[1] != nullptr ? to_text(*bound[1], heap) : "key";
  if (by != "key" && by != "value") {
    return template_error("You can only sort by either \"key\" or \"value\"");
  }
  TANDEM_TRY(const Dict* dict, mapping_of(input));
  std::vector<Keyed> keyed;
  for (const auto& [key, value] : dict->entries()) {
    const Value& by_value = by == "key" ? key : value;
    keyed.push_back(
        {flag(bound, 0) ? by_value : without_case(heap, by_value), heap.tuple({key, value})});
  }
  TANDEM_TRY(auto out, sorted(interpreter, std::move(keyed), flag(bound, 2)));
  return heap.list(std::move(out));
}

Value make_group(Heap& heap, Value grouper, std::vector<Value> members) {
  const Value list = heap.list(std::move(members));
  Value group = heap.tuple({std::move(grouper), list});
  if (auto* tuple = group.get<SequenceObject>()) tuple->is_group = true;
  return group;
}

Result<Value> group_by(Interpreter& interpreter, const Value& input, const Bound& bound) {
  Heap& heap = interpreter.heap();
  const bool case_sensitive = flag(bound, 2);
  AttributePath path(heap, bound[0]);
  if (bound[1] != nullptr) path.set_default(*bound[1]);
  TANDEM_TRY(const auto items, interpreter.to_vector(input));
  std::vector<Keyed> keyed;
  for (const Value& item : items) {
    TANDEM_TRY(Value key, path.follow(interpreter, item));
    keyed.push_back({case_sensitive ? key : without_case(heap, key), item});
  }
  TANDEM_TRY(sort_keyed(interpreter, keyed, 0, keyed.size()));
  std::vector<Value> groups;
  for (size_t begin = 0; begin < keyed.size();) {
    std::vector<Value> members;
    size_t end = begin;
    for (; end < keyed.size() && equal(keyed[end].key, keyed[begin].key); ++end) {
      members.push_back(keyed[end].item);
    }
    if (end == begin) ++end;  // a key that is not even equal to itself (NaN)
    if (members.empty()) members.push_back(keyed[begin].item);
    TANDEM_TRY(Value shown, path.follow(interpreter, members.front()));
    groups.push_back(
        make_group(heap, case_sensitive ? keyed[begin].key : std::move(shown), std::move(members)));
    begin = end;
  }
  return heap.list(std::move(groups));
}

/// The smallest or the largest item; the first one of equals.
template <bool kLargest>
Result<Value> extreme(Interpreter& interpreter, const Value& input, const Bound& bound) {
  Heap& heap = interpreter.heap();
  const AttributePath path(heap, bound[1]);
  TANDEM_TRY(const auto items, interpreter.to_vector(input));
  if (items.empty()) return heap.undefined("No aggregated item, sequence was empty.");
  Value best, best_key;
  for (size_t i = 0; i < items.size(); ++i) {
    TANDEM_TRY(Value key, path.follow(interpreter, items[i]));
    if (!flag(bound, 0)) key = without_case(heap, key);
    bool better = i == 0;
    if (!better) {
      TANDEM_TRY(better, ordered(key, kLargest ? ">" : "<", best_key));
    }
    if (!better) continue;
    best = items[i];
    best_key = std::move(key);
  }
  return best;
}

}  // namespace

std::span<const Builtin> sorting_filters() {
  static const Builtin kFilters[] = {
      {"sort", "do_sort", {{"reverse"}, {"case_sensitive"}, {"attribute"}}, sort},
      {"dictsort", "do_dictsort", {{"case_sensitive"}, {"by"}, {"reverse"}}, dict_sort},
      {"groupby", "do_groupby", {{"attribute", false}, {"default"}, {"case_sensitive"}}, group_by},
      {"min", "do_min", {{"case_sensitive"}, {"attribute"}}, extreme<false>},
      {"max", "do_max", {{"case_sensitive"}, {"attribute"}}, extreme<true>},
  };
  return kFilters;
}

}  // namespace tandem::jinja
