#include "text/chat_template/padding.h"

// Filling text up to a width.

#include <algorithm>

#include "text/chat_template/utf8.h"

namespace tandem::jinja {

std::string padded(Heap& heap, std::string_view text, Int width, char32_t fill, Padding where) {
  const auto length = static_cast<Int>(count_code_points(text));
  if (width <= length) return std::string(text);
  const Int limit = static_cast<Int>(heap.limits().max_memory_bytes);
  const auto n = static_cast<size_t>(std::min(width - length, limit));
  if (!heap.can_hold(text.size() + 4 * n)) return {};
  // Python's str.center: an odd space goes left when the width is odd.
  size_t left = 0;
  if (where == Padding::kRight) left = n;
  if (where == Padding::kCenter) {
    left = n / 2 + (n & static_cast<size_t>(width) & 1);
  }
  std::string out;
  for (size_t i = 0; i < left; ++i) append_utf8(out, fill);
  out += text;
  for (size_t i = left; i < n; ++i) append_utf8(out, fill);
  return out;
}

}  // namespace tandem::jinja
