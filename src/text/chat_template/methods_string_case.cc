// Methods of strings that ask about characters or change their case.

#include "text/chat_template/characters.h"
#include "text/chat_template/filter_support.h"
#include "text/chat_template/methods.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

/// Most memory that changing case takes, for each byte of the text.
constexpr size_t kBytesPerByte = 8;

template <std::string (*kConvert)(std::string_view)>
Result<Value> convert(Interpreter& interpreter, const Value& self, const Bound&) {
  Heap& heap = interpreter.heap();
  TANDEM_TRY(heap.make_room(kBytesPerByte * self.text().size()));
  return heap.string(kConvert(self.text()), self.is_safe());
}

/// Whether every character is of a class and there is one.
template <bool (*kIs)(char32_t)>
Result<Value> all(Interpreter&, const Value& self, const Bound&) {
  const std::string_view text = self.text();
  for (size_t at = 0; at < text.size();) {
    if (!kIs(next_code_point(text, at))) return Value::boolean(false);
  }
  return Value::boolean(!text.empty());
}

/// Whether every letter with a case has the wanted one and there is one.
template <bool (*kWanted)(char32_t), bool (*kRefused)(char32_t)>
Result<Value> all_cased(Interpreter&, const Value& self, const Bound&) {
  const std::string_view text = self.text();
  bool any = false;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (kRefused(c) || is_title(c)) return Value::boolean(false);
    any |= kWanted(c);
  }
  return Value::boolean(any);
}

Result<Value> is_title_case(Interpreter&, const Value& self, const Bound&) {
  const std::string_view text = self.text();
  bool any = false, inside = false;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    const bool upper = is_upper(c) || is_title(c);
    if ((upper && inside) || (is_lower(c) && !inside)) return Value::boolean(false);
    inside = upper || is_lower(c);
    any |= inside;
  }
  return Value::boolean(any);
}

Result<Value> is_ascii(Interpreter&, const Value& self, const Bound&) {
  return Value::boolean(self.string().is_ascii());
}

Result<Value> is_identifier(Interpreter&, const Value& self, const Bound&) {
  const std::string_view text = self.text();
  if (text.empty()) return Value::boolean(false);
  size_t at = 0;
  bool identifier = is_id_start(next_code_point(text, at));
  while (at < text.size()) identifier &= is_id_continue(next_code_point(text, at));
  return Value::boolean(identifier);
}

Result<Value> is_all_printable(Interpreter&, const Value& self, const Bound&) {
  const std::string_view text = self.text();
  for (size_t at = 0; at < text.size();) {
    if (!is_printable(next_code_point(text, at))) return Value::boolean(false);
  }
  return Value::boolean(true);
}

}  // namespace

std::span<const Builtin> string_case_methods() {
  static const Builtin kMethods[] = {
      {"upper", "upper", {}, convert<to_upper>},
      {"lower", "lower", {}, convert<to_lower>},
      {"title", "title", {}, convert<to_title>},
      {"capitalize", "capitalize", {}, convert<to_capitalized>},
      {"casefold", "casefold", {}, convert<to_casefold>},
      {"swapcase", "swapcase", {}, convert<to_swapped_case>},
      {"isalpha", "isalpha", {}, all<is_alpha>},
      {"isalnum", "isalnum", {}, all<is_alnum>},
      {"isdecimal", "isdecimal", {}, all<is_decimal>},
      {"isdigit", "isdigit", {}, all<is_digit>},
      {"isnumeric", "isnumeric", {}, all<is_numeric>},
      {"isspace", "isspace", {}, all<is_space>},
      {"islower", "islower", {}, all_cased<is_lower, is_upper>},
      {"isupper", "isupper", {}, all_cased<is_upper, is_lower>},
      {"istitle", "istitle", {}, is_title_case},
      {"isascii", "isascii", {}, is_ascii},
      {"isidentifier", "isidentifier", {}, is_identifier},
      {"isprintable", "isprintable", {}, is_all_printable},
  };
  return kMethods;
}

}  // namespace tandem::jinja
