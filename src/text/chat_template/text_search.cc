#include "text/chat_template/text_search.h"

// Stripping, replacing and splitting of text.

#include <algorithm>

#include "text/chat_template/characters.h"
#include "text/chat_template/text_form.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

bool is_line_end(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

std::vector<std::string_view> split_at_space(std::string_view text, Int limit) {
  std::vector<std::string_view> parts;
  std::string_view rest = trim_start(text);
  while (!rest.empty()) {
    if (limit >= 0 && static_cast<Int>(parts.size()) >= limit) {
      parts.push_back(trim_end(rest));
      break;
    }
    size_t end = 0;
    while (end < rest.size()) {
      size_t after = end;
      if (is_space(next_code_point(rest, after))) break;
      end = after;
    }
    parts.push_back(rest.substr(0, end));
    rest = trim_start(rest.substr(end));
  }
  return parts;
}

std::vector<std::string_view> split_at_space_from_right(std::string_view text, Int limit) {
  std::vector<std::string_view> parts;
  std::string_view rest = trim_end(text);
  while (!rest.empty()) {
    if (limit >= 0 && static_cast<Int>(parts.size()) >= limit) {
      parts.push_back(trim_start(rest));
      break;
    }
    size_t begin = rest.size();
    while (begin > 0) {
      const size_t before = previous_offset(rest, begin);
      size_t at = before;
      if (is_space(next_code_point(rest, at))) break;
      begin = before;
    }
    parts.push_back(rest.substr(begin));
    rest = trim_end(rest.substr(0, begin));
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string_view> split_at(std::string_view text, std::string_view separator,
                                       Int limit) {
  std::vector<std::string_view> parts;
  while (limit < 0 || static_cast<Int>(parts.size()) < limit) {
    const size_t at = text.find(separator);
    if (at == std::string_view::npos) break;
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.push_back(text);
  return parts;
}

std::vector<std::string_view> split_at_from_right(std::string_view text, std::string_view separator,
                                                  Int limit) {
  std::vector<std::string_view> parts;
  while (limit < 0 || static_cast<Int>(parts.size()) < limit) {
    const size_t at = text.rfind(separator);
    if (at == std::string_view::npos) break;
    parts.push_back(text.substr(at + separator.size()));
    text = text.substr(0, at);
  }
  parts.push_back(text);
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::string_view strip_chars(std::string_view text, std::u32string_view chars, bool left,
                             bool right) {
  const auto listed = [&](char32_t c) { return chars.find(c) != std::u32string_view::npos; };
  while (left && !text.empty()) {
    size_t after = 0;
    if (!listed(next_code_point(text, after))) break;
    text.remove_prefix(after);
  }
  while (right && !text.empty()) {
    const size_t last = previous_offset(text, text.size());
    size_t at = last;
    if (!listed(next_code_point(text, at))) break;
    text = text.substr(0, last);
  }
  return text;
}

}  // namespace

Result<Value> strip(Heap& heap, const Value& text, const Value* chars, bool left, bool right) {
  std::string_view rest = text.text();
  if (chars == nullptr || chars->is_none()) {
    if (left) rest = trim_start(rest);
    if (right) rest = trim_end(rest);
  } else {
    if (!chars->is_string()) return template_error("strip arg must be None or str");
    rest = strip_chars(rest, to_code_points(chars->text()), left, right);
  }
  if (rest.size() == text.text().size()) return text;
  return heap.string(std::string(rest), text.is_safe());
}

Value replaced(Heap& heap, std::string_view text, std::string_view old,
               std::string_view replacement, Int count, bool safe) {
  TextBuilder out(heap);
  heap.work_on_text(text.size());
  if (old.empty()) {  // goes before every character and behind the last one
    size_t at = 0;
    while (count != 0) {
      --count;
      out.append(replacement);
      if (at >= text.size() || out.full()) break;
      const size_t begin = at;
      next_code_point(text, at);
      out.append(text.substr(begin, at - begin));
    }
    out.append(text.substr(at));
    return heap.string(out.take(), safe);
  }
  while (count != 0 && !out.full()) {
    const size_t at = text.find(old);
    if (at == std::string_view::npos) break;
    --count;
    out.append(text.substr(0, at));
    out.append(replacement);
    text.remove_prefix(at + old.size());
  }
  out.append(text);
  return heap.string(out.take(), safe);
}

std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends) {
  std::vector<std::string_view> lines;
  size_t begin = 0, at = 0;
  while (at < text.size()) {
    const size_t line_end = at;
    const char32_t c = next_code_point(text, at);
    if (!is_line_end(c)) continue;
    if (c == '\r' && at < text.size() && text[at] == '\n') ++at;
    lines.push_back(text.substr(begin, (keep_ends ? at : line_end) - begin));
    begin = at;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

std::vector<std::string_view> split_text(std::string_view text,
                                         std::optional<std::string_view> separator, Int limit,
                                         bool from_right) {
  if (!separator) {
    return from_right ? split_at_space_from_right(text, limit) : split_at_space(text, limit);
  }
  return from_right ? split_at_from_right(text, *separator, limit)
                    : split_at(text, *separator, limit);
}

}  // namespace tandem::jinja
