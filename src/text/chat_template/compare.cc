#include "text/chat_template/compare.h"

// Equality, order and hashes, as Python defines them.

#include <cmath>
#include <functional>
#include <string_view>

#include "text/chat_template/heap.h"
#include "text/chat_template/text_form.h"

namespace tandem::jinja {
namespace {

/// Counts a step of a comparison that goes into containers: a few of them, nested in each other
/// twice a level, would take exponential time. False once the steps have run out; whatever the
/// comparison says then is never seen, the interpreter stops.
bool may_go_on(const Value& container) {
  Heap* heap = container.object()->heap;
  if (heap == nullptr) return true;
  heap->work(1);
  return !heap->exhausted();
}

bool equal_numbers(const Value& a, const Value& b) {
  if (a.is_integral() && b.is_integral()) return a.as_int() == b.as_int();
  return a.as_double() == b.as_double();
}

bool equal_items(const std::vector<Value>& a, const std::vector<Value>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!equal(a[i], b[i])) return false;
  }
  return true;
}

bool equal_dicts(const Dict& a, const Dict& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a.entries()) {
    const Value* other = b.find(key);
    if (other == nullptr || !equal(value, *other)) return false;
  }
  return true;
}

bool equal_ranges(const RangeObject& a, const RangeObject& b) {
  if (a.size() != b.size()) return false;
  if (a.size() == 0) return true;
  return a.start == b.start && (a.size() == 1 || a.step == b.step);
}

/// Views of keys and of items are sets; views of values are only equal to themselves.
bool equal_views(const ViewObject& a, const ViewObject& b) {
  if (&a == &b) return true;
  if (a.part != b.part || a.part == ViewObject::Part::kValues) return false;
  const Dict &x = a.dict.dict().entries, &y = b.dict.dict().entries;
  if (a.part == ViewObject::Part::kItems) return equal_dicts(x, y);
  if (x.size() != y.size()) return false;
  for (const auto& [key, value] : x.entries()) {
    if (y.find(key) == nullptr) return false;
  }
  return true;
}

size_t mix(size_t seed, size_t value) { return (seed ^ value) * 0x9E3779B97F4A7C15ull + 1; }

size_t hash_number(const Value& value) {
  if (value.is_integral()) return std::hash<uint64_t>{}(static_cast<uint64_t>(value.as_int()));
  const double d = value.as_double();
  if (std::trunc(d) == d && std::abs(d) < 0x1p62) {
    return std::hash<uint64_t>{}(static_cast<uint64_t>(static_cast<int64_t>(d)));
  }
  return std::hash<double>{}(d);
}

/// -1, 0, 1 for less, equal, greater; 2 for NaN.
int sign_of(const Value& a, const Value& b) {
  if (a.is_integral() && b.is_integral()) {
    return a.as_int() < b.as_int() ? -1 : a.as_int() > b.as_int();
  }
  const double x = a.as_double(), y = b.as_double();
  if (std::isnan(x) || std::isnan(y)) return 2;
  return x < y ? -1 : x > y;
}

bool holds(int sign, std::string_view op) {
  if (sign == 2) return false;
  if (op == "<") return sign < 0;
  if (op == "<=") return sign <= 0;
  if (op == ">") return sign > 0;
  return sign >= 0;
}

/// Whether views of keys or items are sets that contain one another.
bool is_subset(const ViewObject& a, const ViewObject& b) {
  for (const auto& [key, value] : a.dict.dict().entries.entries()) {
    const Value* other = b.dict.dict().entries.find(key);
    const bool whole = a.part == ViewObject::Part::kItems;
    if (other == nullptr || (whole && !equal(value, *other))) return false;
  }
  return true;
}

/// The sets that can be compared: keys with keys, items with items.
bool are_sets(const Value& a, const Value& b) {
  const auto *x = a.get<ViewObject>(), *y = b.get<ViewObject>();
  return x != nullptr && y != nullptr && x->part == y->part && x->part != ViewObject::Part::kValues;
}

bool ordered_sets(const ViewObject& a, std::string_view op, const ViewObject& b) {
  const bool strict = op.size() == 1;
  const bool same_size = a.dict.dict().entries.size() == b.dict.dict().entries.size();
  if (strict && same_size) return false;
  return op[0] == '<' ? is_subset(a, b) : is_subset(b, a);
}

Result<bool> ordered_sequences(const std::vector<Value>& a, const char* op,
                               const std::vector<Value>& b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (!equal(a[i], b[i])) return ordered(a[i], op, b[i]);
  }
  return holds(a.size() < b.size() ? -1 : a.size() > b.size(), op);
}

}  // namespace

bool equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return equal_numbers(a, b);
  if (a.kind() != b.kind()) return false;
  if ((a.is_sequence() || a.is_dict()) && !may_go_on(a)) return false;
  switch (a.kind()) {
    case Kind::kNone:
    case Kind::kUndefined:
      return true;
    case Kind::kString:
      return a.text() == b.text();
    case Kind::kList:
    case Kind::kTuple:
      return a.object() == b.object() || equal_items(a.items(), b.items());
    case Kind::kDict:
      return a.object() == b.object() || equal_dicts(a.dict().entries, b.dict().entries);
    case Kind::kView:
      return equal_views(*a.get<ViewObject>(), *b.get<ViewObject>());
    case Kind::kRange:
      return equal_ranges(*a.get<RangeObject>(), *b.get<RangeObject>());
    default:
      return a.object() == b.object();
  }
}

size_t hash(const Value& value) {
  switch (value.kind()) {
    case Kind::kNone:
      return 0x5EED;
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
      return hash_number(value);
    case Kind::kUndefined:
      return 0xD0;
    case Kind::kString:
      return std::hash<std::string_view>{}(value.text());
    case Kind::kTuple: {
      size_t seed = value.items().size();
      if (!may_go_on(value)) return seed;
      for (const Value& item : value.items()) seed = mix(seed, hash(item));
      return seed;
    }
    case Kind::kRange:
      return static_cast<size_t>(value.get<RangeObject>()->size());
    default:
      return std::hash<const void*>{}(value.object());
  }
}

Result<void> check_hashable(const Value& value) {
  const auto* view = value.get<ViewObject>();
  const bool set_like = view != nullptr && view->part != ViewObject::Part::kValues;
  if (value.is(Kind::kList) || value.is_dict() || set_like) {
    return template_error("unhashable type: '{}'", type_name(value));
  }
  if (!value.is(Kind::kTuple) || !may_go_on(value)) return {};
  for (const Value& item : value.items()) TANDEM_TRY(check_hashable(item));
  return {};
}

Result<bool> ordered(const Value& a, const char* op, const Value& b) {
  if (a.is_number() && b.is_number()) return holds(sign_of(a, b), op);
  if (a.is_string() && b.is_string()) {
    const int sign = a.text().compare(b.text());  // UTF-8 sorts as its code points do
    return holds(sign < 0 ? -1 : sign > 0, op);
  }
  if (a.is_sequence() && a.kind() == b.kind()) return ordered_sequences(a.items(), op, b.items());
  if (are_sets(a, b)) return ordered_sets(*a.get<ViewObject>(), op, *b.get<ViewObject>());
  for (const Value* value : {&a, &b}) {
    if (value->is_undefined()) return undefined_error(*value);
  }
  return template_error("'{}' not supported between instances of '{}' and '{}'", op, type_name(a),
                        type_name(b));
}

}  // namespace tandem::jinja
