#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/chat_template/builtins.h"
#include "text/chat_template/heap.h"
#include "text/chat_template/interpreter.h"
#include "text/chat_template/text_form.h"

namespace tandem::jinja {

/// The path of an `attribute` argument ("a.b.0"), followed from item to item by filters.
class AttributePath {
 public:
  /// None: the item itself. A string is split at dots; anything else is one key.
  AttributePath(Heap& heap, const Value* attribute);
  /// Stands in for undefined values on the way.
  void set_default(const Value& value) { default_ = value; }

  Result<Value> follow(Interpreter& interpreter, const Value& item) const;

 private:
  std::vector<Value> parts_;
  Value default_;
};

/// Strings in lower case, anything else as it is: what sorting compares unless case counts.
Value without_case(Heap& heap, const Value& value);

/// Python's soft_str: a string stays what it is, safe or not; anything else becomes text.
Value soft_string(Heap& heap, const Value& value);

/// An integer argument; `otherwise` when it was left out. Python's error for other types.
Result<Int> int_argument(const Value* argument, Int otherwise);

/// The values of an iterator that is made when first asked.
using ComputeItems = Result<std::vector<Value>> (*)(Interpreter&, const Value& input, const Bound&);
Value make_generator(Heap& heap, const Value& input, const Bound& bound, ComputeItems compute);

/// Fails like Python's attribute access on something that is no mapping.
Result<const Dict*> mapping_of(const Value& value);

}  // namespace tandem::jinja
