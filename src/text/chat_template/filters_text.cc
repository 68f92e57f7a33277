// Filters on text: case, trimming, replacing, formatting, defaults.

#include <algorithm>

#include "text/chat_template/access.h"
#include "text/chat_template/characters.h"
#include "text/chat_template/filter_support.h"
#include "text/chat_template/percent_format.h"
#include "text/chat_template/text_search.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

/// Most memory that changing case takes, for each byte of the text.
constexpr size_t kBytesPerByte = 8;

template <std::string (*kConvert)(std::string_view)>
Result<Value> convert(Interpreter& interpreter, const Value& input, const Bound&) {
  Heap& heap = interpreter.heap();
  const Value text = soft_string(heap, input);
  TANDEM_TRY(heap.make_room(kBytesPerByte * text.text().size()));
  return heap.string(kConvert(text.text()), text.is_safe());
}

bool starts_word(char32_t c) {
  return is_space(c) || std::u32string_view(U"-({[<").find(c) != std::u32string_view::npos;
}

/// Like str.title, but words begin after white space, hyphens and opening brackets only.
std::string title_words(std::string_view text) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    size_t after = at;
    const bool separator = starts_word(next_code_point(text, after));
    size_t end = after;
    while (end < text.size()) {
      size_t next = end;
      if (starts_word(next_code_point(text, next)) != separator) break;
      end = next;
    }
    out += to_upper(text.substr(at, after - at));
    out += to_lower(text.substr(after, end - after));
    at = end;
  }
  return out;
}

Result<Value> trim(Interpreter& interpreter, const Value& input, const Bound& bound) {
  Heap& heap = interpreter.heap();
  const Value text = soft_string(heap, input);
  return strip(heap, text, bound[0], true, true);
}

Result<Value> replace(Interpreter& interpreter, const Value& input, const Bound& bound) {
  Heap& heap = interpreter.heap();
  TANDEM_TRY(const Int count, bound[2] == nullptr || bound[2]->is_none()
                                  ? Result<Int>(-1)
                                  : int_argument(bound[2], -1));
  std::string text = to_text(input, heap);
  std::string old = to_text(bound.at(0), heap), replacement = to_text(bound.at(1), heap);
  bool safe = false;
  if (interpreter.autoescape()) {
    const bool escape = bound.at(0).is_safe() || (bound.at(1).is_safe() && !input.is_safe());
    if (escape) text = escaped_text(input, heap);
    safe = escape || input.is_safe();
    if (safe) {
      old = escaped_text(bound.at(0), heap);
      replacement = escaped_text(bound.at(1), heap);
    }
  }
  return replaced(heap, text, old, replacement, count, safe);
}

Result<Value> to_string(Interpreter& interpreter, const Value& input, const Bound&) {
  return soft_string(interpreter.heap(), input);
}

Result<Value> format(Interpreter& interpreter, const Value& input, Arguments& arguments) {
  Heap& heap = interpreter.heap();
  if (!arguments.positional.empty() && !arguments.named.empty()) {
    return template_error("can't handle positional and keyword arguments at the same time");
  }
  const Value text = soft_string(heap, input);
  if (arguments.named.empty()) {
    return percent_format(interpreter, text, heap.tuple(std::move(arguments.positional)));
  }
  Dict named;
  for (auto& [name, value] : arguments.named) named.set(heap.string(name), std::move(value));
  return percent_format(interpreter, text, heap.dict(std::move(named)));
}

Result<Value> word_count(Interpreter& interpreter, const Value& input, const Bound&) {
  const std::string text = to_text(input, interpreter.heap());
  Int count = 0;
  bool inside = false;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    const bool is_word = c == '_' || is_alnum(c);
    count += is_word && !inside;
    inside = is_word;
  }
  return Value::integer(count);
}

Result<Value> default_value(Interpreter& interpreter, const Value& input, const Bound& bound) {
  const bool boolean = bound[1] != nullptr && truthy(*bound[1]);
  if (!input.is_undefined() && !(boolean && !truthy(input))) return input;
  return bound[0] != nullptr ? *bound[0] : interpreter.heap().string("");
}

Result<Value> attribute(Interpreter& interpreter, const Value& input, const Bound& bound) {
  if (input.is_undefined()) return undefined_error(input);
  if (!bound.at(0).is_string()) return template_error("attribute name must be string");
  const std::string_view name = bound.at(0).text();
  TANDEM_TRY(auto value, own_attribute(interpreter, input, name));
  if (value) return std::move(*value);
  return interpreter.heap().undefined(
      fmt::format("'{}' has no attribute '{}'", object_type(input), name));
}

}  // namespace

std::span<const Builtin> text_filters() {
  static const std::vector<Parameter> kDefault = {{"default_value"}, {"boolean"}};
  static const Builtin kFilters[] = {
      {"upper", "do_upper", {}, convert<to_upper>},
      {"lower", "do_lower", {}, convert<to_lower>},
      {"capitalize", "do_capitalize", {}, convert<to_capitalized>},
      {"title", "do_title", {}, convert<title_words>},
      {"trim", "do_trim", {{"chars"}}, trim},
      {"replace", "do_replace", {{"old", false}, {"new", false}, {"count"}}, replace},
      {"string", "soft_str", {}, to_string},
      {"format", "do_format", {}, nullptr, format},
      {"wordcount", "do_wordcount", {}, word_count},
      {"default", "do_default", kDefault, default_value},
      {"d", "do_default", kDefault, default_value},
      {"attr", "do_attr", {{"name", false}}, attribute},
  };
  return kFilters;
}

}  // namespace tandem::jinja
