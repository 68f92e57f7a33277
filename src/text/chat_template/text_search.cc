#include "text/chat_template/text_search.h"

// Stripping, replacing and splitting of text.

#include <algorithm>
#include <cstring>

#include "text/chat_template/characters.h"
#include "text/chat_template/text_form.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

/// Collects pieces of a text, as many as the heap could hold as strings.
class Pieces {
 public:
  explicit Pieces(Heap& heap) : heap_(heap) {}
  void add(std::string_view piece) {
    constexpr size_t kCheckEvery = 1024;
    parts_.push_back(piece);
    if (parts_.size() % kCheckEvery != 0) return;
    full_ = !heap_.can_hold(parts_.size() * sizeof(StringObject));
  }
  bool below(Int limit) const { return limit < 0 || static_cast<Int>(parts_.size()) < limit; }
  bool full() const { return full_; }
  std::vector<std::string_view> take() { return std::move(parts_); }
  std::vector<std::string_view> take_reversed() {
    std::reverse(parts_.begin(), parts_.end());
    return std::move(parts_);
  }

 private:
  Heap& heap_;
  std::vector<std::string_view> parts_;
  bool full_ = false;
};

bool is_line_end(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

std::vector<std::string_view> split_at_space(Heap& heap, std::string_view text, Int limit) {
  Pieces parts(heap);
  std::string_view rest = trim_start(text);
  while (!rest.empty() && !parts.full()) {
    if (!parts.below(limit)) {
      parts.add(trim_end(rest));
      break;
    }
    size_t end = 0;
    while (end < rest.size()) {
      size_t after = end;
      if (is_space(next_code_point(rest, after))) break;
      end = after;
    }
    parts.add(rest.substr(0, end));
    rest = trim_start(rest.substr(end));
  }
  return parts.take();
}

std::vector<std::string_view> split_at_space_from_right(Heap& heap, std::string_view text,
                                                        Int limit) {
  Pieces parts(heap);
  std::string_view rest = trim_end(text);
  while (!rest.empty() && !parts.full()) {
    if (!parts.below(limit)) {
      parts.add(trim_start(rest));
      break;
    }
    size_t begin = rest.size();
    while (begin > 0) {
      const size_t before = previous_offset(rest, begin);
      size_t at = before;
      if (is_space(next_code_point(rest, at))) break;
      begin = before;
    }
    parts.add(rest.substr(begin));
    rest = trim_end(rest.substr(0, begin));
  }
  return parts.take_reversed();
}

std::vector<std::string_view> split_at(Heap& heap, std::string_view text,
                                       std::string_view separator, Int limit) {
  Pieces parts(heap);
  while (parts.below(limit) && !parts.full()) {
    const size_t at = find_text(text, separator);
    if (at == std::string_view::npos) break;
    parts.add(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.add(text);
  return parts.take();
}

std::vector<std::string_view> split_at_from_right(Heap& heap, std::string_view text,
                                                  std::string_view separator, Int limit) {
  Pieces parts(heap);
  while (parts.below(limit) && !parts.full()) {
    const size_t at = find_last_text(heap, text, separator);
    if (at == std::string_view::npos) break;
    parts.add(text.substr(at + separator.size()));
    text = text.substr(0, at);
  }
  parts.add(text);
  return parts.take_reversed();
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

size_t find_text(std::string_view text, std::string_view wanted, size_t from) {
  if (from > text.size()) return std::string_view::npos;
  if (wanted.empty()) return from;
  // std::string_view::find takes quadratic time on repetitive text; memmem does not.
  const void* found = memmem(text.data() + from, text.size() - from, wanted.data(), wanted.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

size_t find_last_text(Heap& heap, std::string_view text, std::string_view wanted) {
  heap.work_on_text(text.size() * std::max<size_t>(1, std::min(wanted.size(), text.size()) / 16));
  if (heap.exhausted()) return std::string_view::npos;
  return text.rfind(wanted);
}

Result<Value> strip(Heap& heap, const Value& text, const Value* chars, bool left, bool right) {
  std::string_view rest = text.text();
  if (chars == nullptr || chars->is_none()) {
    if (left) rest = trim_start(rest);
    if (right) rest = trim_end(rest);
  } else {
    if (!chars->is_string()) return template_error("strip arg must be None or str");
    heap.work_on_text(rest.size() * (1 + chars->text().size() / 16));
    if (heap.exhausted()) return heap.exhausted_error();
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
    const size_t at = find_text(text, old);
    if (at == std::string_view::npos) break;
    --count;
    out.append(text.substr(0, at));
    out.append(replacement);
    text.remove_prefix(at + old.size());
  }
  out.append(text);
  return heap.string(out.take(), safe);
}

std::vector<std::string_view> split_lines(Heap& heap, std::string_view text, bool keep_ends) {
  Pieces lines(heap);
  size_t begin = 0, at = 0;
  while (at < text.size() && !lines.full()) {
    const size_t line_end = at;
    const char32_t c = next_code_point(text, at);
    if (!is_line_end(c)) continue;
    if (c == '\r' && at < text.size() && text[at] == '\n') ++at;
    lines.add(text.substr(begin, (keep_ends ? at : line_end) - begin));
    begin = at;
  }
  if (begin < text.size()) lines.add(text.substr(begin));
  return lines.take();
}

std::vector<std::string_view> split_text(Heap& heap, std::string_view text,
                                         std::optional<std::string_view> separator, Int limit,
                                         bool from_right) {
  heap.work_on_text(text.size());
  if (!separator) {
    return from_right ? split_at_space_from_right(heap, text, limit)
                      : split_at_space(heap, text, limit);
  }
  return from_right ? split_at_from_right(heap, text, *separator, limit)
                    : split_at(heap, text, *separator, limit);
}

}  // namespace tandem::jinja
