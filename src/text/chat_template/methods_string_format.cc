// Methods of strings that fill and format: center, ljust, rjust, zfill, expandtabs, format.

#include <algorithm>

#include "text/chat_template/filter_support.h"
#include "text/chat_template/methods.h"
#include "text/chat_template/padding.h"
#include "text/chat_template/string_format.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

template <Padding kWhere>
Result<Value> pad(Interpreter& interpreter, const Value& self, const Bound& bound) {
  Heap& heap = interpreter.heap();
  TANDEM_TRY(const Int width, int_argument(bound[0], 0));
  char32_t fill = ' ';
  if (bound[1] != nullptr) {
    if (!bound[1]->is_string() || bound[1]->string().n_chars != 1) {
      return template_error("The fill character must be exactly one character long");
    }
    fill = to_code_points(bound[1]->text())[0];
  }
  return heap.string(padded(heap, self.text(), width, fill, kWhere), self.is_safe());
}

Result<Value> zero_fill(Interpreter& interpreter, const Value& self, const Bound& bound) {
  Heap& heap = interpreter.heap();
  TANDEM_TRY(const Int width, int_argument(bound[0], 0));
  const std::string_view text = self.text();
  const bool has_sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  const std::string_view digits = text.substr(has_sign ? 1 : 0);
  const Int digits_width = std::max<Int>(width, has_sign ? 1 : 0) - (has_sign ? 1 : 0);
  return heap.string(std::string(text.substr(0, has_sign ? 1 : 0)) +
                         padded(heap, digits, digits_width, U'0', Padding::kRight),
                     self.is_safe());
}

Result<Value> expand_tabs(Interpreter& interpreter, const Value& self, const Bound& bound) {
  Heap& heap = interpreter.heap();
  TANDEM_TRY(const Int size, int_argument(bound[0], 8));
  TextBuilder out(heap);
  Int column = 0;
  const std::string_view text = self.text();
  for (size_t at = 0; at < text.size() && !out.full();) {
    const size_t begin = at;
    const char32_t c = next_code_point(text, at);
    if (c == '\t') {
      const Int n = size > 0 ? size - column % size : 0;
      out.append(static_cast<size_t>(std::min<Int>(n, INT64_MAX / 2)), ' ');
      column += n;
      continue;
    }
    out.append(text.substr(begin, at - begin));
    column = c == '\n' || c == '\r' ? 0 : column + 1;
  }
  return heap.string(out.take(), self.is_safe());
}

Result<Value> format(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  return string_format(interpreter, self, arguments);
}

Result<Value> format_map(Interpreter& interpreter, const Value& self, const Bound& bound) {
  Arguments arguments;
  TANDEM_TRY(const Dict* mapping, mapping_of(bound.at(0)));
  for (const auto& [key, value] : mapping->entries()) {
    if (key.is_string()) arguments.named.emplace_back(key.text(), value);
  }
  return string_format(interpreter, self, arguments);
}

}  // namespace

std::span<const Builtin> string_format_methods() {
  static const std::vector<Parameter> kWidth = {{"width", false}, {"fillchar"}};
  static const Builtin kMethods[] = {
      {"center", "center", kWidth, pad<Padding::kCenter>},
      {"ljust", "ljust", kWidth, pad<Padding::kLeft>},
      {"rjust", "rjust", kWidth, pad<Padding::kRight>},
      {"zfill", "zfill", {{"width", false}}, zero_fill},
      {"expandtabs", "expandtabs", {{"tabsize"}}, expand_tabs},
      {"format", "format", {}, nullptr, format},
      {"format_map", "format_map", {{"mapping", false}}, format_map},
  };
  return kMethods;
}

}  // namespace tandem::jinja
