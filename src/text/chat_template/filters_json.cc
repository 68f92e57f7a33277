// tojson, as transformers defines it: Python's json.dumps without ASCII escaping.

#include <algorithm>
#include <cmath>

#include "text/chat_template/compare.h"
#include "text/chat_template/filter_support.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

struct JsonStyle {
  bool ascii = false;
  bool sort_keys = false;
  bool multiline = false;
  std::string indent;
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};

class JsonWriter {
 public:
  JsonWriter(Interpreter& interpreter, JsonStyle style)
      : interpreter_(interpreter), style_(std::move(style)), out_(interpreter.heap()) {}

  Result<void> write(const Value& value, size_t level);
  std::string take() { return out_.take(); }

 private:
  void write_string(std::string_view text);
  void write_escape(char32_t c);
  void write_float(double value);
  void new_line(size_t level);
  Result<void> write_list(const std::vector<Value>& items, size_t level);
  Result<void> write_dict(const Dict& dict, size_t level);
  Result<std::string> key_text(const Value& key) const;

  Interpreter& interpreter_;
  const JsonStyle style_;
  TextBuilder out_;
};

void JsonWriter::write_escape(char32_t c) {
  const auto write_unit = [this](uint32_t unit) { out_.append(fmt::format("\\u{:04x}", unit)); };
  if (c < 0x10000) return write_unit(static_cast<uint32_t>(c));
  const auto above = static_cast<uint32_t>(c) - 0x10000;
  write_unit(0xD800 | above >> 10);
  write_unit(0xDC00 | (above & 0x3FF));
}

void JsonWriter::write_string(std::string_view text) {
  out_.append("\"");
  size_t plain = 0;  // start of text that needs no escape
  for (size_t at = 0; at < text.size() && !out_.full();) {
    const size_t begin = at;
    const char32_t c = next_code_point(text, at);
    if (c >= 0x20 && c != '"' && c != '\\' && (c < 0x7F || !style_.ascii)) continue;
    if (c == 0x7F) continue;
    out_.append(text.substr(plain, begin - plain));
    plain = at;
    switch (c) {
      case '"':
        out_.append("\\\"");
        break;
      case '\\':
        out_.append("\\\\");
        break;
      case '\n':
        out_.append("\\n");
        break;
      case '\r':
        out_.append("\\r");
        break;
      case '\t':
        out_.append("\\t");
        break;
      case '\b':
        out_.append("\\b");
        break;
      case '\f':
        out_.append("\\f");
        break;
      default:
        write_escape(c);
    }
  }
  out_.append(text.substr(plain));
  out_.append("\"");
}

void JsonWriter::write_float(double value) {
  if (std::isnan(value)) return out_.append("NaN");
  if (std::isinf(value)) return out_.append(value < 0 ? "-Infinity" : "Infinity");
  out_.append(float_text(value));
}

void JsonWriter::new_line(size_t level) {
  if (!style_.multiline) return;
  out_.append("\n");
  for (size_t i = 0; i < level && !out_.full(); ++i) out_.append(style_.indent);
}

Result<void> JsonWriter::write_list(const std::vector<Value>& items, size_t level) {
  if (items.empty()) {
    out_.append("[]");
    return {};
  }
  out_.append("[");
  for (size_t i = 0; i < items.size(); ++i) {
    TANDEM_TRY(interpreter_.tick());
    if (i > 0) out_.append(style_.item_separator);
    new_line(level + 1);
    TANDEM_TRY(write(items[i], level + 1));
  }
  new_line(level);
  out_.append("]");
  return {};
}

Result<std::string> JsonWriter::key_text(const Value& key) const {
  if (key.is_string()) return std::string(key.text());
  if (key.is_none()) return std::string("null");
  if (key.is(Kind::kBool)) return std::string(key.as_bool() ? "true" : "false");
  if (key.is_number()) return to_text(key, interpreter_.heap());
  return template_error("keys must be str, int, float, bool or None, not {}", type_name(key));
}

Result<void> JsonWriter::write_dict(const Dict& dict, size_t level) {
  if (dict.empty()) {
    out_.append("{}");
    return {};
  }
  auto entries = dict.entries();
  if (style_.sort_keys) {
    for (size_t i = 1; i < entries.size(); ++i) {
      TANDEM_TRY(ordered(entries[i].first, "<", entries[i - 1].first));
    }
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
      return ordered(a.first, "<", b.first).value_or(false);
    });
  }
  out_.append("{");
  bool first = true;
  for (const auto& [key, value] : entries) {
    TANDEM_TRY(interpreter_.tick());
    if (!first) out_.append(style_.item_separator);
    first = false;
    new_line(level + 1);
    TANDEM_TRY(const std::string name, key_text(key));
    write_string(name);
    out_.append(style_.key_separator);
    TANDEM_TRY(write(value, level + 1));
  }
  new_line(level);
  out_.append("}");
  return {};
}

Result<void> JsonWriter::write(const Value& value, size_t level) {
  switch (value.kind()) {
    case Kind::kNone:
      out_.append("null");
      return {};
    case Kind::kBool:
      out_.append(value.as_bool() ? "true" : "false");
      return {};
    case Kind::kInt:
      out_.append(int_text(value.as_int()));
      return {};
    case Kind::kFloat:
      write_float(value.as_double());
      return {};
    case Kind::kString:
      write_string(value.text());
      return {};
    case Kind::kList:
    case Kind::kTuple:
      return write_list(value.items(), level);
    case Kind::kDict:
      return write_dict(value.dict().entries, level);
    default:
      break;
  }
  return template_error("Object of type {} is not JSON serializable", type_name(value));
}

Result<void> read_indent(const Value& indent, Heap& heap, JsonStyle& style) {
  if (indent.is_none()) return {};
  style.multiline = true;
  style.item_separator = ",";
  if (indent.is_string()) {
    style.indent = indent.text();
    return {};
  }
  if (indent.is_undefined()) return undefined_error(indent);
  TANDEM_TRY(const Int n, int_argument(&indent, 0));
  const auto width = static_cast<size_t>(std::clamp<Int>(n, 0, INT32_MAX));
  if (!heap.can_hold(width)) return heap.exhausted_error();
  style.indent.assign(width, ' ');
  return {};
}

Result<void> read_separators(Interpreter& interpreter, const Value& separators, JsonStyle& style) {
  if (separators.is_none()) return {};
  TANDEM_TRY(const auto parts, interpreter.to_vector(separators));
  if (parts.size() != 2) {
    return parts.size() > 2
               ? template_error("too many values to unpack (expected 2)")
               : template_error("not enough values to unpack (expected 2, got {})", parts.size());
  }
  style.item_separator = to_text(parts[0], interpreter.heap());
  style.key_separator = to_text(parts[1], interpreter.heap());
  return {};
}

Result<Value> to_json(Interpreter& interpreter, const Value& input, const Bound& bound) {
  JsonStyle style;
  style.ascii = bound[0] != nullptr && truthy(*bound[0]);
  style.sort_keys = bound[3] != nullptr && truthy(*bound[3]);
  if (bound[1] != nullptr) TANDEM_TRY(read_indent(*bound[1], interpreter.heap(), style));
  if (bound[2] != nullptr) TANDEM_TRY(read_separators(interpreter, *bound[2], style));
  JsonWriter writer(interpreter, std::move(style));
  TANDEM_TRY(writer.write(input, 0));
  return interpreter.heap().string(writer.take());
}

}  // namespace

std::span<const Builtin> json_filters() {
  static const Builtin kFilters[] = {
      {"tojson", "tojson", {{"ensure_ascii"}, {"indent"}, {"separators"}, {"sort_keys"}}, to_json},
  };
  return kFilters;
}

}  // namespace tandem::jinja
