#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/chat_template/ref.h"

namespace tandem::jinja {

class Heap;

/// Wide enough for every JSON integer and for products of them; overflow is an error. (Python's
/// integers have no bound.)
__extension__ typedef __int128 Int;

enum class Kind : uint8_t {
  kNone,
  kBool,
  kInt,
  kFloat,
  kUndefined,  ///< from here on values are objects
  kString,
  kList,
  kTuple,
  kDict,
  kView,  ///< dict.keys(), .values(), .items()
  kRange,
  kIterator,  ///< a lazy sequence that can be walked once, as Python's generators
  kNamespace,
  kLoop,
  kCallable,  ///< functions, macros, bound methods
};

/// What a value of kind >= kUndefined points to. Counted by hand without atomics: the objects of
/// one render belong to one thread.
struct Object {
  explicit Object(Kind kind_of_object) : kind(kind_of_object) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object();

  uint32_t refs = 0;
  const Kind kind;
  uint32_t depth = 1;    ///< levels of containers below and including this one
  Heap* heap = nullptr;  ///< outlives the object
  size_t charged = 0;    ///< bytes to give back to the heap
};

struct StringObject;
struct SequenceObject;
struct DictObject;

/// A value of the template language. Cheap to copy.
class Value {
 public:
  Value() : kind_(Kind::kNone), int_(0) {}
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(Value other) noexcept;
  ~Value();

  static Value boolean(bool b);
  static Value integer(Int i);
  static Value real(double d);
  static Value object(Ref<Object> object);

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_none() const { return kind_ == Kind::kNone; }
  bool is_undefined() const { return kind_ == Kind::kUndefined; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_sequence() const { return kind_ == Kind::kList || kind_ == Kind::kTuple; }
  bool is_dict() const { return kind_ == Kind::kDict; }
  /// True and False count as 1 and 0, as in Python.
  bool is_integral() const { return kind_ == Kind::kInt || kind_ == Kind::kBool; }
  bool is_number() const { return is_integral() || kind_ == Kind::kFloat; }

  /// Each is for values of the matching kind only.
  bool as_bool() const { return bool_; }
  Int as_int() const { return kind_ == Kind::kBool ? Int{bool_} : int_; }
  double as_double() const { return is_integral() ? static_cast<double>(as_int()) : float_; }
  std::string_view text() const;
  bool is_safe() const;  ///< any kind: a string marked as safe markup
  const StringObject& string() const;
  const std::vector<Value>& items() const;
  const DictObject& dict() const;
  Object* object() const { return has_object() ? object_ : nullptr; }
  /// The object as a T; null when the value is of another class.
  template <class T>
  T* get() const {
    return has_object() ? dynamic_cast<T*>(object_) : nullptr;
  }

  /// Python's `is`.
  bool same_as(const Value& other) const;
  uint32_t depth() const { return has_object() ? object_->depth : 0; }

 private:
  bool has_object() const { return kind_ >= Kind::kUndefined; }

  Kind kind_;
  union {
    bool bool_;
    Int int_;
    double float_;
    Object* object_;
  };
};

struct UndefinedObject : Object {
  explicit UndefinedObject(std::string what) : Object(Kind::kUndefined), message(std::move(what)) {}
  std::string message;  ///< the error when the value is used
};

struct StringObject : Object {
  StringObject(std::string s, bool is_safe);
  const std::string text;
  const size_t n_chars;  ///< code points
  const bool safe;       ///< markup that need not be escaped (Python's Markup)
  bool is_ascii() const { return n_chars == text.size(); }
};

/// A list or a tuple. `named` are the fields of a tuple that groupby makes.
struct SequenceObject : Object {
  SequenceObject(Kind kind, std::vector<Value> values) : Object(kind), items(std::move(values)) {}
  const std::vector<Value> items;
  bool is_group = false;  ///< fields: grouper, list
};

/// Key/value pairs in insertion order, keys equal as Python's are (1 == 1.0 == True).
class Dict {
 public:
  /// Null when there is no such key. Keys that cannot be hashed are never there.
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  /// Replaces the value of an equal key.
  void set(Value key, Value value);

  const std::vector<std::pair<Value, Value>>& entries() const { return entries_; }
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  void clear();

 private:
  std::optional<size_t> position(const Value& key) const;

  std::vector<std::pair<Value, Value>> entries_;
  std::unordered_multimap<size_t, size_t> index_;  ///< by hash; kept for large dicts only
};

struct DictObject : Object {
  explicit DictObject(Dict dict) : Object(Kind::kDict), entries(std::move(dict)) {}
  const Dict entries;
};

/// What the heap keeps to the end of a render and then empties, because it may reach itself.
struct Clearable {
  virtual void clear_references() = 0;

 protected:
  ~Clearable() = default;
};

/// namespace(...): the one thing a template can change.
struct NamespaceObject : Object, Clearable {
  explicit NamespaceObject(Dict dict) : Object(Kind::kNamespace), attributes(std::move(dict)) {}
  void clear_references() override { attributes.clear(); }
  Dict attributes;
  bool being_printed = false;
};

struct ViewObject : Object {
  enum class Part { kKeys, kValues, kItems };
  ViewObject(Value of, Part which) : Object(Kind::kView), dict(std::move(of)), part(which) {}
  const Value dict;
  const Part part;
};

struct RangeObject : Object {
  RangeObject(Int from, Int to, Int by) : Object(Kind::kRange), start(from), stop(to), step(by) {}
  const Int start, stop, step;
  Int size() const;
  Int at(Int index) const { return start + index * step; }
};

}  // namespace tandem::jinja
