#include "text/chat_template/string_format.h"

// str.format: replacement fields and what they may reach.

#include "text/chat_template/filter_support.h"
#include "text/chat_template/format_spec.h"
#include "text/chat_template/literals.h"

namespace tandem::jinja {
namespace {

class Formatter {
 public:
  Formatter(Interpreter& interpreter, const Arguments& arguments, bool safe)
      : interpreter_(interpreter), arguments_(arguments), safe_(safe) {}

  Result<std::string> format(std::string_view text, int levels);

 private:
  Result<std::string> field(std::string_view inside, int levels);
  Result<Value> look_up(std::string_view path);
  Result<Value> first_value(std::string_view name);
  Result<Value> follow(Value value, std::string_view path);
  Result<std::string> convert(const Value& value, char conversion, std::string_view spec);

  Interpreter& interpreter_;
  const Arguments& arguments_;
  const bool safe_;  ///< values are escaped on their way in
  enum class Numbering { kUnknown, kAutomatic, kManual } numbering_ = Numbering::kUnknown;
  size_t next_index_ = 0;
};

Result<Value> Formatter::first_value(std::string_view name) {
  const auto number = parse_int(name, 10);
  const bool is_number = number && name.find_first_not_of("0123456789") == std::string_view::npos;
  if (!name.empty() && !is_number) {
    if (const Value* value = arguments_.find(name)) return *value;
    return template_error("'{}'", name);  // the text of Python's KeyError
  }
  const auto wanted = name.empty() ? Numbering::kAutomatic : Numbering::kManual;
  if (numbering_ != Numbering::kUnknown && numbering_ != wanted) {
    return wanted == Numbering::kManual
               ? template_error(
                     "cannot switch from automatic field numbering to manual field "
                     "specification")
               : template_error(
                     "cannot switch from manual field specification to automatic field "
                     "numbering");
  }
  numbering_ = wanted;
  const Int index = name.empty() ? static_cast<Int>(next_index_++) : *number;
  if (index >= static_cast<Int>(arguments_.positional.size())) {
    return template_error("Replacement index {} out of range for positional args tuple",
                          int_text(index));
  }
  return arguments_.positional[static_cast<size_t>(index)];
}

/// Follows ".name" and "[key]" from a value on.
Result<Value> Formatter::follow(Value value, std::string_view path) {
  Heap& heap = interpreter_.heap();
  while (!path.empty()) {
    if (path[0] == '.') {
      const size_t end = std::min(path.find_first_of(".[", 1), path.size());
      if (end == 1) return template_error("Empty attribute in format string");
      TANDEM_TRY(value, get_attribute(interpreter_, value, path.substr(1, end - 1)));
      path.remove_prefix(end);
      continue;
    }
    const size_t close = path.find(']');
    if (path[0] != '[' || close == std::string_view::npos) {
      return template_error("Only '.' or '[' may follow ']' in format field specifier");
    }
    const std::string_view key = path.substr(1, close - 1);
    if (key.empty()) return template_error("Empty attribute in format string");
    const bool number = key.find_first_not_of("0123456789") == std::string_view::npos;
    const auto index = number ? parse_int(key, 10) : std::nullopt;
    const Value at = index ? Value::integer(*index) : heap.string(std::string(key));
    TANDEM_TRY(value, get_item(interpreter_, value, at));
    path.remove_prefix(close + 1);
  }
  return value;
}

Result<Value> Formatter::look_up(std::string_view path) {
  const size_t end = std::min(path.find_first_of(".["), path.size());
  TANDEM_TRY(Value value, first_value(path.substr(0, end)));
  return follow(std::move(value), path.substr(end));
}

Result<std::string> Formatter::convert(const Value& input, char conversion,
                                       std::string_view spec_text) {
  Heap& heap = interpreter_.heap();
  Value value = input;
  if (conversion == 'r') value = heap.string(to_repr(input, heap));
  if (conversion == 'a') value = heap.string(to_ascii_repr(input, heap));
  if (conversion == 's') value = heap.string(to_text(input, heap));
  if (safe_ && spec_text.empty()) return escaped_text(value, heap);
  if (spec_text.empty()) return to_text(value, heap);
  TANDEM_TRY(const auto spec, FormatSpec::parse(spec_text));
  TANDEM_TRY(std::string text, format_value(heap, value, spec));
  return safe_ ? html_escaped(text, heap) : text;
}

/// One replacement field, braces gone: name, !conversion, :specification.
Result<std::string> Formatter::field(std::string_view inside, int levels) {
  size_t end = 0;
  while (end < inside.size() && inside[end] != '!' && inside[end] != ':') {
    if (inside[end] == '[') end = std::min(inside.find(']', end), inside.size());
    if (end < inside.size()) ++end;
  }
  std::string_view rest = inside.substr(end);
  char conversion = 0;
  if (!rest.empty() && rest[0] == '!') {
    if (rest.size() < 2)
      return template_error("end of string while looking for conversion specifier");
    conversion = rest[1];
    rest.remove_prefix(2);
    if (conversion != 'r' && conversion != 's' && conversion != 'a') {
      return template_error("Unknown conversion specifier {}", conversion);
    }
    if (!rest.empty() && rest[0] != ':')
      return template_error("expected ':' after conversion specifier");
  }
  TANDEM_TRY(const Value value, look_up(inside.substr(0, end)));
  std::string spec;
  if (!rest.empty()) {
    TANDEM_TRY(spec, format(rest.substr(1), levels - 1));
  }
  return convert(value, conversion, spec);
}

Result<std::string> Formatter::format(std::string_view text, int levels) {
  if (levels < 0) return template_error("Max string recursion exceeded");
  TextBuilder out(interpreter_.heap());
  for (size_t at = 0; at < text.size() && !out.full();) {
    const size_t brace = std::min(text.find_first_of("{}", at), text.size());
    out.append(text.substr(at, brace - at));
    if (brace == text.size()) break;
    if (brace + 1 < text.size() && text[brace + 1] == text[brace]) {
      out.append(1, text[brace]);
      at = brace + 2;
      continue;
    }
    if (text[brace] == '}') return template_error("Single '}}' encountered in format string");
    int depth = 1;
    size_t end = brace + 1;
    for (; end < text.size(); ++end) {
      depth += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0;
      if (depth == 0) break;
    }
    if (depth != 0) {
      return brace + 1 == text.size() ? template_error("Single '{{' encountered in format string")
                                      : template_error("expected '}}' before end of string");
    }
    TANDEM_TRY(const std::string value, field(text.substr(brace + 1, end - brace - 1), levels));
    out.append(value);
    at = end + 1;
  }
  return out.take();
}

}  // namespace

Result<Value> string_format(Interpreter& interpreter, const Value& text, Arguments& arguments) {
  constexpr int kNestedSpecs = 1;
  Formatter formatter(interpreter, arguments, text.is_safe());
  TANDEM_TRY(std::string out, formatter.format(text.text(), kNestedSpecs));
  return interpreter.heap().string(std::move(out), text.is_safe());
}

}  // namespace tandem::jinja
