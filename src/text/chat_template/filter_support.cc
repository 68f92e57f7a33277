#include "text/chat_template/filter_support.h"

// What several filters share: attribute paths, arguments, lazy results.

#include <algorithm>

#include "text/chat_template/characters.h"
#include "text/chat_template/literals.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

bool all_digits(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (!is_digit(next_code_point(text, at))) return false;
  }
  return !text.empty();
}

struct Generator : IteratorObject {
  Generator(Value value, Bound arguments, ComputeItems function)
      : input(std::move(value)), bound(std::move(arguments)), compute(function) {}
  Result<std::optional<Value>> next(Interpreter& interpreter) override {
    if (compute != nullptr) {
      const ComputeItems function = std::exchange(compute, nullptr);
      TANDEM_TRY(items, function(interpreter, input, bound));
      interpreter.heap().charge(*this, items.capacity() * sizeof(Value));
    }
    if (at >= items.size()) return std::nullopt;
    return items[at++];
  }

  const Value input;
  const Bound bound;
  ComputeItems compute;
  std::vector<Value> items;
  size_t at = 0;
};

}  // namespace

AttributePath::AttributePath(Heap& heap, const Value* attribute) {
  if (attribute == nullptr || attribute->is_none()) return;
  if (!attribute->is_string()) {
    parts_.push_back(*attribute);
    return;
  }
  std::string_view rest = attribute->text();
  while (true) {
    const size_t dot = rest.find('.');
    const std::string_view part = rest.substr(0, dot);
    const auto index = all_digits(part) ? parse_int(part, 10) : std::nullopt;
    parts_.push_back(index ? Value::integer(*index) : heap.string(std::string(part)));
    if (dot == std::string_view::npos) return;
    rest.remove_prefix(dot + 1);
  }
}

Result<Value> AttributePath::follow(Interpreter& interpreter, const Value& item) const {
  Value value = item;
  for (const Value& part : parts_) {
    TANDEM_TRY(interpreter.tick());
    TANDEM_TRY(value, get_item(interpreter, value, part));
    if (value.is_undefined() && !default_.is_none()) value = default_;
  }
  return value;
}

Value without_case(Heap& heap, const Value& value) {
  if (!value.is_string() || !heap.can_hold(8 * value.text().size())) return value;
  return heap.string(to_lower(value.text()), value.is_safe());
}

Value soft_string(Heap& heap, const Value& value) {
  return value.is_string() ? value : heap.string(to_text(value, heap));
}

Result<Int> int_argument(const Value* argument, Int otherwise) {
  if (argument == nullptr) return otherwise;
  if (argument->is_integral()) return argument->as_int();
  return template_error("'{}' object cannot be interpreted as an integer", type_name(*argument));
}

Value make_generator(Heap& heap, const Value& input, const Bound& bound, ComputeItems compute) {
  uint32_t depth = input.depth();
  for (size_t i = 0; i < Bound::kMaxParameters; ++i) {
    depth = std::max(depth, bound.at(i).depth());
  }
  return heap.make<Generator>(0, depth + 1, input, bound, compute);
}

Result<const Dict*> mapping_of(const Value& value) {
  if (value.is_undefined()) return undefined_error(value);
  if (value.is_dict()) return &value.dict().entries;
  return template_error("'{}' object has no attribute 'items'", type_name(value));
}

}  // namespace tandem::jinja
