#include "text/chat_template/text_form.h"

// Values as text: Python's str and repr.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "text/chat_template/characters.h"
#include "text/chat_template/objects.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

void append_joined(const std::vector<Value>& items, TextBuilder& out) {
  for (size_t i = 0; i < items.size() && !out.full(); ++i) {
    if (i > 0) out.append(", ");
    append_repr(items[i], out);
  }
}

void append_dict(const Dict& dict, TextBuilder& out) {
  out.append("{");
  bool first = true;
  for (const auto& [key, value] : dict.entries()) {
    if (out.full()) return;
    if (!first) out.append(", ");
    first = false;
    append_repr(key, out);
    out.append(": ");
    append_repr(value, out);
  }
  out.append("}");
}

void append_view(const ViewObject& view, TextBuilder& out) {
  const bool items = view.part == ViewObject::Part::kItems;
  out.append(items                                  ? "dict_items(["
             : view.part == ViewObject::Part::kKeys ? "dict_keys(["
                                                    : "dict_values([");
  bool first = true;
  for (const auto& [key, value] : view.dict.dict().entries.entries()) {
    if (!first) out.append(", ");
    first = false;
    if (items) out.append("(");
    if (view.part != ViewObject::Part::kValues) append_repr(key, out);
    if (items) out.append(", ");
    if (view.part != ViewObject::Part::kKeys) append_repr(value, out);
    if (items) out.append(")");
  }
  out.append("])");
}

std::string range_text(const RangeObject& range) {
  std::string text = "range(" + int_text(range.start) + ", " + int_text(range.stop);
  if (range.step != 1) text += ", " + int_text(range.step);
  return text + ")";
}

void append_escape(char32_t c, TextBuilder& out) {
  const auto code = static_cast<uint32_t>(c);
  if (c < 0x100) {
    out.append(fmt::format("\\x{:02x}", code));
  } else if (c < 0x10000) {
    out.append(fmt::format("\\u{:04x}", code));
  } else {
    out.append(fmt::format("\\U{:08x}", code));
  }
}

void append_repr_char(char32_t c, char quote, TextBuilder& out) {
  switch (c) {
    case '\\':
      return out.append("\\\\");
    case '\n':
      return out.append("\\n");
    case '\r':
      return out.append("\\r");
    case '\t':
      return out.append("\\t");
    default:
      break;
  }
  if (c == static_cast<char32_t>(quote)) out.append("\\");
  if (c < 0x20 || c == 0x7F || (c >= 0x80 && !is_printable(c))) return append_escape(c, out);
  out.append_char(c);
}

std::string_view html_entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '\'':
      return "&#39;";
    case '"':
      return "&#34;";
    default:
      return {};
  }
}

void append_object(const Value& value, TextBuilder& out) {
  if (const auto* callable = value.get<CallableObject>()) return out.append(callable->repr());
  if (const auto* loop = value.get<LoopBase>()) return out.append(loop->repr());
  out.append(fmt::format("<{} object>", type_name(value)));
}

}  // namespace

std::string_view type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::kNone:
      return "NoneType";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kUndefined:
      return "Undefined";
    case Kind::kString:
      return value.is_safe() ? "Markup" : "str";
    case Kind::kList:
      return "list";
    case Kind::kTuple:
      return value.get<SequenceObject>()->is_group ? "_GroupTuple" : "tuple";
    case Kind::kDict:
      return "dict";
    case Kind::kView: {
      const auto part = value.get<ViewObject>()->part;
      if (part == ViewObject::Part::kKeys) return "dict_keys";
      return part == ViewObject::Part::kValues ? "dict_values" : "dict_items";
    }
    case Kind::kRange:
      return "range";
    case Kind::kIterator:
      return value.get<IteratorObject>()->type();
    case Kind::kNamespace:
      return "Namespace";
    case Kind::kLoop:
      return "LoopContext";
    case Kind::kCallable:
      return value.get<CallableObject>()->type();
  }
  return "object";
}

std::string object_type(const Value& value) {
  if (value.is_none()) return "None";
  std::string_view module;
  const std::string_view name = type_name(value);
  if (value.is_safe()) module = "markupsafe.";
  if (name == "_GroupTuple") module = "jinja2.filters.";
  if (value.is(Kind::kNamespace) || name == "Cycler" || name == "Joiner") module = "jinja2.utils.";
  if (value.is(Kind::kLoop) || value.is_undefined() || name == "Macro") module = "jinja2.runtime.";
  return fmt::format("{}{} object", module, name);
}

void append_string_repr(std::string_view text, TextBuilder& out) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const bool has_double = text.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  out.append(1, quote);
  for (size_t at = 0; at < text.size() && !out.full();) {
    append_repr_char(next_code_point(text, at), quote, out);
  }
  out.append(1, quote);
}

void append_repr(const Value& value, TextBuilder& out) {
  switch (value.kind()) {
    case Kind::kNone:
      return out.append("None");
    case Kind::kBool:
      return out.append(value.as_bool() ? "True" : "False");
    case Kind::kInt:
      return out.append(int_text(value.as_int()));
    case Kind::kFloat:
      return out.append(float_text(value.as_double()));
    case Kind::kUndefined:
      return out.append("Undefined");
    case Kind::kString:
      if (value.is_safe()) out.append("Markup(");
      append_string_repr(value.text(), out);
      if (value.is_safe()) out.append(")");
      return;
    case Kind::kList:
      out.append("[");
      append_joined(value.items(), out);
      return out.append("]");
    case Kind::kTuple:
      out.append("(");
      append_joined(value.items(), out);
      return out.append(value.items().size() == 1 ? ",)" : ")");
    case Kind::kDict:
      return append_dict(value.dict().entries, out);
    case Kind::kView:
      return append_view(*value.get<ViewObject>(), out);
    case Kind::kRange:
      return out.append(range_text(*value.get<RangeObject>()));
    case Kind::kNamespace: {
      // A namespace can contain itself, which Python prints as {...}.
      auto* name_space = value.get<NamespaceObject>();
      if (name_space->being_printed) return out.append("<Namespace {...}>");
      name_space->being_printed = true;
      out.append("<Namespace ");
      if (out.enter_namespace()) append_dict(name_space->attributes, out);
      out.leave_namespace();
      out.append(">");
      name_space->being_printed = false;
      return;
    }
    default:
      return append_object(value, out);
  }
}

void append_text(const Value& value, TextBuilder& out) {
  if (value.is_string()) return out.append(value.text());
  if (value.is_undefined()) return;
  append_repr(value, out);
}

std::string to_text(const Value& value, Heap& heap) {
  if (value.is_string()) return value.string().text;
  TextBuilder out(heap);
  append_text(value, out);
  return out.take();
}

std::string to_repr(const Value& value, Heap& heap) {
  TextBuilder out(heap);
  append_repr(value, out);
  return out.take();
}

std::string to_ascii_repr(const Value& value, Heap& heap) {
  const std::string repr = to_repr(value, heap);
  TextBuilder out(heap);
  for (size_t at = 0; at < repr.size() && !out.full();) {
    const char32_t c = next_code_point(repr, at);
    if (c < 0x80) {
      out.append_char(c);
    } else {
      append_escape(c, out);
    }
  }
  return out.take();
}

bool truthy(const Value& value) {
  switch (value.kind()) {
    case Kind::kNone:
    case Kind::kUndefined:
      return false;
    case Kind::kBool:
      return value.as_bool();
    case Kind::kInt:
      return value.as_int() != 0;
    case Kind::kFloat:
      return value.as_double() != 0;
    case Kind::kString:
      return !value.text().empty();
    case Kind::kList:
    case Kind::kTuple:
      return !value.items().empty();
    case Kind::kDict:
      return !value.dict().entries.empty();
    case Kind::kView:
      return !value.get<ViewObject>()->dict.dict().entries.empty();
    case Kind::kRange:
      return value.get<RangeObject>()->size() > 0;
    default:
      return true;
  }
}

std::string int_text(Int value) {
  __extension__ typedef unsigned __int128 Unsigned;
  Unsigned rest = value < 0 ? -static_cast<Unsigned>(value) : static_cast<Unsigned>(value);
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  } while (rest != 0);
  if (value < 0) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  // Shortest digits that read back as the same number, then laid out by Python's rule: exponents
  // from -4 to 15 are written out.
  std::array<char, 64> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::scientific);
  std::string_view text(buffer.data(), static_cast<size_t>(end.ptr - buffer.data()));
  std::string out;
  if (text.front() == '-') {
    out = "-";
    text.remove_prefix(1);
  }
  const size_t e = text.find('e');
  std::string digits(text.substr(0, 1));
  if (e > 2) digits += text.substr(2, e - 2);
  int exponent = 0;
  const size_t sign = text[e + 1] == '+' ? 1 : 0;
  std::from_chars(text.data() + e + 1 + sign, text.data() + text.size(), exponent);
  if (exponent < -4 || exponent >= 16) {
    out += digits.substr(0, 1);
    if (digits.size() > 1) out += "." + digits.substr(1);
    return out + fmt::format("e{}{:02d}", exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0)
    return out + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  const auto n_whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= n_whole) {
    return out + digits + std::string(n_whole - digits.size(), '0') + ".0";
  }
  return out + digits.substr(0, n_whole) + "." + digits.substr(n_whole);
}

tl::unexpected<Error> undefined_error(const Value& value) {
  return template_error("{}", value.get<UndefinedObject>()->message);
}

std::string html_escaped(std::string_view text, Heap& heap) {
  TextBuilder out(heap);
  size_t plain = 0;  // start of text that needs no entity
  for (size_t i = 0; i < text.size() && !out.full(); ++i) {
    const std::string_view entity = html_entity(text[i]);
    if (entity.empty()) continue;
    out.append(text.substr(plain, i - plain));
    out.append(entity);
    plain = i + 1;
  }
  out.append(text.substr(plain));
  return out.take();
}

std::string escaped_text(const Value& value, Heap& heap) {
  if (value.is_safe()) return value.string().text;
  return html_escaped(to_text(value, heap), heap);
}

}  // namespace tandem::jinja
