// Filters for markup: escape, safe, striptags, urlencode, xmlattr.

#include "text/chat_template/characters.h"
#include "text/chat_template/filter_support.h"
#include "text/chat_template/text_search.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

Result<Value> escape(Interpreter& interpreter, const Value& input, const Bound&) {
  if (input.is_safe()) return input;
  return interpreter.heap().string(escaped_text(input, interpreter.heap()), true);
}

Result<Value> force_escape(Interpreter& interpreter, const Value& input, const Bound&) {
  Heap& heap = interpreter.heap();
  return heap.string(html_escaped(to_text(input, heap), heap), true);
}

Result<Value> mark_safe(Interpreter& interpreter, const Value& input, const Bound&) {
  Heap& heap = interpreter.heap();
  return heap.string(to_text(input, heap), true);
}

std::string without(std::string text, std::string_view open, std::string_view close) {
  std::string out;
  size_t at = 0;
  while (true) {
    const size_t begin = text.find(open, at);
    const size_t end = begin == std::string::npos ? begin : text.find(close, begin + open.size());
    if (end == std::string::npos) return out + text.substr(at);
    out += text.substr(at, begin - at);
    at = end + close.size();
  }
}

std::string unescaped_html(std::string text, Heap& heap) {
  static constexpr std::pair<std::string_view, std::string_view> kEntities[] = {
      {"&lt;", "<"},    {"&gt;", ">"},        {"&#39;", "'"}, {"&#34;", "\""},
      {"&quot;", "\""}, {"&nbsp;", "\u00a0"}, {"&amp;", "&"},
  };
  for (const auto& [entity, character] : kEntities) {
    text = std::string(replaced(heap, text, entity, character, -1, false).text());
  }
  return text;
}

Result<Value> strip_tags(Interpreter& interpreter, const Value& input, const Bound&) {
  Heap& heap = interpreter.heap();
  std::string text = without(to_text(input, heap), "<!--", "-->");
  text = without(std::move(text), "<", ">");
  std::string joined;
  for (const std::string_view word : split_text(heap, text, std::nullopt, -1, false)) {
    if (!joined.empty()) joined += ' ';
    joined += word;
  }
  return heap.string(unescaped_html(std::move(joined), heap));
}

std::string url_quoted(std::string_view text, bool for_query, Heap& heap) {
  TextBuilder out(heap);
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    const bool keep = (byte < 0x80 && is_alnum(byte)) || c == '_' || c == '.' || c == '-' ||
                      c == '~' || (c == '/' && !for_query);
    if (keep) {
      out.append(1, c);
    } else if (c == ' ' && for_query) {
      out.append(1, '+');
    } else {
      out.append(fmt::format("%{:02X}", byte));
    }
  }
  return out.take();
}

Result<Value> url_encode(Interpreter& interpreter, const Value& input, const Bound&) {
  Heap& heap = interpreter.heap();
  if (input.is_string() || input.is_number() || input.is_none()) {
    return heap.string(url_quoted(to_text(input, heap), false, heap));
  }
  std::vector<std::pair<Value, Value>> pairs;
  if (input.is_dict()) {
    pairs = input.dict().entries.entries();
  } else {
    TANDEM_TRY(const auto items, interpreter.to_vector(input));
    for (const Value& item : items) {
      TANDEM_TRY(const auto pair, interpreter.to_vector(item));
      if (pair.size() > 2) return template_error("too many values to unpack (expected 2)");
      if (pair.size() != 2) {
        return template_error("not enough values to unpack (expected 2, got {})", pair.size());
      }
      pairs.emplace_back(pair[0], pair[1]);
    }
  }
  TextBuilder out(heap);
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (i > 0) out.append("&");
    out.append(url_quoted(to_text(pairs[i].first, heap), true, heap) + "=" +
               url_quoted(to_text(pairs[i].second, heap), true, heap));
  }
  return heap.string(out.take());
}

Result<Value> xml_attributes(Interpreter& interpreter, const Value& input, const Bound& bound) {
  Heap& heap = interpreter.heap();
  TANDEM_TRY(const Dict* dict, mapping_of(input));
  TextBuilder out(heap);
  for (const auto& [key, value] : dict->entries()) {
    if (value.is_none() || value.is_undefined()) continue;
    if (!key.is_string()) {
      return template_error("expected string or bytes-like object, got '{}'", type_name(key));
    }
    if (key.text().find_first_of(" \t\n\r\f\v/>=") != std::string_view::npos) {
      return template_error("Invalid character in attribute name: {}", to_repr(key, heap));
    }
    if (!out.text().empty()) out.append(" ");
    out.append(escaped_text(key, heap) + "=\"" + escaped_text(value, heap) + "\"");
  }
  std::string text = out.take();
  const bool leading_space = bound[0] == nullptr || truthy(*bound[0]);
  if (leading_space && !text.empty()) text.insert(0, " ");
  return heap.string(std::move(text), interpreter.autoescape());
}

}  // namespace

std::span<const Builtin> markup_filters() {
  static const Builtin kFilters[] = {
      {"escape", "escape", {}, escape},
      {"e", "escape", {}, escape},
      {"forceescape", "do_forceescape", {}, force_escape},
      {"safe", "do_mark_safe", {}, mark_safe},
      {"striptags", "do_striptags", {}, strip_tags},
      {"urlencode", "do_urlencode", {}, url_encode},
      {"xmlattr", "do_xmlattr", {{"autospace"}}, xml_attributes},
  };
  return kFilters;
}

}  // namespace tandem::jinja
