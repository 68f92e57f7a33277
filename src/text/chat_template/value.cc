#include "text/chat_template/value.h"

// Values: construction, counting of references, dictionaries.

#include <functional>

#include "text/chat_template/compare.h"
#include "text/chat_template/heap.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

constexpr size_t kIndexFrom = 8;  ///< entries from which a hash index beats a walk

}  // namespace

Object::~Object() {
  if (heap != nullptr) heap->release(charged);
}

Value::Value(const Value& other) : kind_(other.kind_), int_(0) {
  switch (kind_) {
    case Kind::kNone:
      break;
    case Kind::kBool:
      bool_ = other.bool_;
      break;
    case Kind::kInt:
      int_ = other.int_;
      break;
    case Kind::kFloat:
      float_ = other.float_;
      break;
    default:
      object_ = other.object_;
      ++object_->refs;
  }
}

Value::Value(Value&& other) noexcept : kind_(other.kind_), int_(0) {
  switch (kind_) {
    case Kind::kNone:
      break;
    case Kind::kBool:
      bool_ = other.bool_;
      break;
    case Kind::kInt:
      int_ = other.int_;
      break;
    case Kind::kFloat:
      float_ = other.float_;
      break;
    default:
      object_ = other.object_;
  }
  other.kind_ = Kind::kNone;
}

Value& Value::operator=(Value other) noexcept {
  this->~Value();
  new (this) Value(std::move(other));
  return *this;
}

Value::~Value() {
  if (has_object() && --object_->refs == 0) delete object_;
}

Value Value::boolean(bool b) {
  Value value;
  value.kind_ = Kind::kBool;
  value.bool_ = b;
  return value;
}

Value Value::integer(Int i) {
  Value value;
  value.kind_ = Kind::kInt;
  value.int_ = i;
  return value;
}

Value Value::real(double d) {
  Value value;
  value.kind_ = Kind::kFloat;
  value.float_ = d;
  return value;
}

Value Value::object(Ref<Object> object) {
  Value value;
  value.kind_ = object->kind;
  value.object_ = object.release();
  return value;
}

const StringObject& Value::string() const { return *static_cast<StringObject*>(object_); }
std::string_view Value::text() const { return string().text; }
bool Value::is_safe() const { return is_string() && string().safe; }
const std::vector<Value>& Value::items() const {
  return static_cast<SequenceObject*>(object_)->items;
}
const DictObject& Value::dict() const { return *static_cast<DictObject*>(object_); }

bool Value::same_as(const Value& other) const {
  if (kind_ != other.kind_) return false;
  switch (kind_) {
    case Kind::kNone:
      return true;
    case Kind::kBool:
      return bool_ == other.bool_;
    case Kind::kInt:
      return int_ == other.int_;
    case Kind::kFloat:
      return float_ == other.float_;
    default:
      return object_ == other.object_;
  }
}

StringObject::StringObject(std::string s, bool is_safe)
    : Object(Kind::kString), text(std::move(s)), n_chars(count_code_points(text)), safe(is_safe) {}

std::optional<size_t> Dict::position(const Value& key) const {
  if (index_.empty()) {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (equal(entries_[i].first, key)) return i;
    }
    return std::nullopt;
  }
  const auto [first, last] = index_.equal_range(hash(key));
  for (auto at = first; at != last; ++at) {
    if (equal(entries_[at->second].first, key)) return at->second;
  }
  return std::nullopt;
}

const Value* Dict::find(const Value& key) const {
  const auto at = position(key);
  return at ? &entries_[*at].second : nullptr;
}

const Value* Dict::find(std::string_view key) const {
  const auto matches = [key](const Value& other) {
    return other.is_string() && other.text() == key;
  };
  if (index_.empty()) {
    for (const auto& [name, value] : entries_) {
      if (matches(name)) return &value;
    }
    return nullptr;
  }
  const auto [first, last] = index_.equal_range(std::hash<std::string_view>{}(key));
  for (auto at = first; at != last; ++at) {
    if (matches(entries_[at->second].first)) return &entries_[at->second].second;
  }
  return nullptr;
}

void Dict::set(Value key, Value value) {
  if (const auto at = position(key)) {
    entries_[*at].second = std::move(value);
    return;
  }
  entries_.emplace_back(std::move(key), std::move(value));
  if (entries_.size() <= kIndexFrom) return;
  for (size_t i = index_.size(); i < entries_.size(); ++i) {
    index_.emplace(hash(entries_[i].first), i);
  }
}

void Dict::clear() {
  index_.clear();
  // Values may hold the last count of objects that reach back here: leave an empty dict first.
  const auto dropped = std::move(entries_);
  entries_.clear();
}

Int RangeObject::size() const {
  if (step > 0) return start < stop ? (stop - start + step - 1) / step : 0;
  return start > stop ? (start - stop - step - 1) / -step : 0;
}

}  // namespace tandem::jinja
