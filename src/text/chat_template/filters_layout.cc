// Filters that lay text out: indenting, shortening, centring, wrapping.

#include <algorithm>

#include "text/chat_template/characters.h"
#include "text/chat_template/filter_support.h"
#include "text/chat_template/iterators.h"
#include "text/chat_template/padding.h"
#include "text/chat_template/text_search.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

/// The indentation as text: a string as it is, a number as that many spaces.
Result<std::string> indentation(Heap& heap, const Value* width) {
  if (width != nullptr && width->is_string()) return std::string(width->text());
  TANDEM_TRY(const Int n, int_argument(width, 4));
  TextBuilder spaces(heap);
  if (n > 0) spaces.append(static_cast<size_t>(std::min<Int>(n, INT64_MAX / 2)), ' ');
  return spaces.take();
}

Result<Value> indent(Interpreter& interpreter, const Value& input, const Bound& bound) {
  Heap& heap = interpreter.heap();
  if (input.is_undefined()) return undefined_error(input);
  if (!input.is_string()) {
    return template_error("unsupported operand type(s) for +=: '{}' and 'str'", type_name(input));
  }
  TANDEM_TRY(std::string margin, indentation(heap, bound[0]));
  if (input.is_safe() && !(bound[0] != nullptr && bound[0]->is_safe())) {
    margin = html_escaped(margin, heap);
  }
  const bool first = bound[1] != nullptr && truthy(*bound[1]);
  const bool blank = bound[2] != nullptr && truthy(*bound[2]);
  const std::string text = std::string(input.text()) + "\n";
  TextBuilder out(heap);
  if (first) out.append(margin);
  const auto lines = split_lines(heap, text, false);
  for (size_t i = 0; i < lines.size() && !out.full(); ++i) {
    if (i > 0) {
      out.append("\n");
      if (blank || !lines[i].empty()) out.append(margin);
    }
    out.append(lines[i]);
  }
  return heap.string(out.take(), input.is_safe());
}

Result<Value> truncate(Interpreter& interpreter, const Value& input, const Bound& bound) {
  Heap& heap = interpreter.heap();
  TANDEM_TRY(const Int length, int_argument(bound[0], 255));
  const bool kill_words = bound[1] != nullptr && truthy(*bound[1]);
  const std::string end = bound[2] != nullptr ? to_text(*bound[2], heap) : "...";
  const bool has_leeway = bound[3] != nullptr && !bound[3]->is_none();
  TANDEM_TRY(const Int leeway, int_argument(has_leeway ? bound[3] : nullptr, 5));
  const auto end_length = static_cast<Int>(count_code_points(end));
  if (length < end_length) {
    return template_error("expected length >= {}, got {}", int_text(end_length), int_text(length));
  }
  if (leeway < 0) return template_error("expected leeway >= 0, got {}", int_text(leeway));
  const auto size = length_of(input);
  if (!size) return template_error("object of type '{}' has no len()", type_name(input));
  if (static_cast<Int>(*size) <= length + leeway) return input;
  if (!input.is_string()) return template_error("cannot truncate a {}", type_name(input));
  const auto n_kept = static_cast<size_t>(length - end_length);
  std::string kept(input.text().substr(0, byte_offset(input.text(), n_kept)));
  if (!kill_words) {
    const size_t space = kept.rfind(' ');
    if (space != std::string::npos) kept.resize(space);
  }
  return heap.string(kept + (input.is_safe() ? html_escaped(end, heap) : end), input.is_safe());
}

Result<Value> center(Interpreter& interpreter, const Value& input, const Bound& bound) {
  Heap& heap = interpreter.heap();
  TANDEM_TRY(const Int width, int_argument(bound[0], 80));
  const Value text = soft_string(heap, input);
  return heap.string(padded(heap, text.text(), width, U' ', Padding::kCenter), text.is_safe());
}

using Chunks = std::vector<std::u32string_view>;

/// Words and white space of a line, in turn, as views into it.
Chunks chunks_of(std::u32string_view line, bool break_on_hyphens) {
  const auto is_blank = [](char32_t c) { return c < 0x80 && is_space(c); };
  const auto is_word = [](char32_t c) { return is_alnum(c) || c == '_'; };
  Chunks chunks;
  size_t begin = 0;
  const auto cut = [&](size_t end) {
    if (end > begin) chunks.push_back(line.substr(begin, end - begin));
    begin = end;
  };
  for (size_t i = 0; i < line.size(); ++i) {
    if (i > begin && is_blank(line[i]) != is_blank(line[i - 1])) cut(i);
    // A hyphen between letters ends a chunk: the line may break behind it.
    const bool hyphenated = break_on_hyphens && line[i] == '-' && i >= begin + 2 &&
                            is_word(line[i - 1]) && is_word(line[i - 2]) && i + 2 < line.size() &&
                            is_alpha(line[i + 1]) && is_alpha(line[i + 2]);
    if (hyphenated) cut(i + 1);
  }
  cut(line.size());
  return chunks;
}

struct WrapOptions {
  size_t width;
  bool break_long_words, break_on_hyphens;
};

bool is_blank_chunk(std::u32string_view chunk) { return chunk[0] < 0x80 && is_space(chunk[0]); }

/// The chunks of the next line; `chunks` is in reverse and loses them. Not empty unless all that
/// was left is white space.
Chunks next_line(Chunks& chunks, const WrapOptions& options) {
  Chunks current;
  size_t length = 0;
  while (!chunks.empty() && length + chunks.back().size() <= options.width) {
    length += chunks.back().size();
    current.push_back(chunks.back());
    chunks.pop_back();
  }
  if (!chunks.empty() && chunks.back().size() > options.width) {
    if (options.break_long_words) {
      const size_t room = options.width - length;
      current.push_back(chunks.back().substr(0, room));
      chunks.back().remove_prefix(room);
    } else if (current.empty()) {
      current.push_back(chunks.back());
      chunks.pop_back();
    }
  }
  // One chunk, as in Python: a piece of length zero hides the space before it.
  if (!current.empty() && (current.back().empty() || is_blank_chunk(current.back()))) {
    current.pop_back();
  }
  return current;
}

/// Python's textwrap.wrap of one line, white space kept as it is within lines.
void append_wrapped(std::u32string_view line, const WrapOptions& options,
                    std::string_view separator, TextBuilder& out) {
  Chunks chunks = chunks_of(line, options.break_on_hyphens);
  std::reverse(chunks.begin(), chunks.end());
  bool first = true;
  while (!chunks.empty() && !out.full()) {
    if (!first && is_blank_chunk(chunks.back())) {
      chunks.pop_back();
      continue;
    }
    const Chunks current = next_line(chunks, options);
    if (current.empty()) continue;
    if (!first) out.append(separator);
    first = false;
    for (const std::u32string_view chunk : current) {
      for (const char32_t c : chunk) out.append_char(c);
    }
  }
}

Result<Value> word_wrap(Interpreter& interpreter, const Value& input, const Bound& bound) {
  Heap& heap = interpreter.heap();
  if (!input.is_string()) {
    if (input.is_undefined()) return undefined_error(input);
    return template_error("'{}' object has no attribute 'splitlines'", type_name(input));
  }
  TANDEM_TRY(const Int width, int_argument(bound[0], 79));
  if (width <= 0) return template_error("invalid width {} (must be > 0)", int_text(width));
  const bool has_separator = bound[2] != nullptr && !bound[2]->is_none();
  const std::string separator = has_separator ? to_text(*bound[2], heap) : "\n";
  const WrapOptions options = {
      .width = static_cast<size_t>(std::min<Int>(width, INT32_MAX)),
      .break_long_words = bound[1] == nullptr || truthy(*bound[1]),
      .break_on_hyphens = bound[3] == nullptr || truthy(*bound[3]),
  };
  TANDEM_TRY(heap.make_room(16 * input.text().size()));
  TextBuilder out(heap);
  bool first = true;
  for (const std::string_view line : split_lines(heap, input.text(), false)) {
    if (!first) out.append(separator);
    first = false;
    append_wrapped(to_code_points(line), options, separator, out);
    if (out.full()) break;
  }
  return heap.string(out.take());
}

}  // namespace

std::span<const Builtin> layout_filters() {
  static const Builtin kFilters[] = {
      {"indent", "do_indent", {{"width"}, {"first"}, {"blank"}}, indent},
      {"truncate", "do_truncate", {{"length"}, {"killwords"}, {"end"}, {"leeway"}}, truncate},
      {"center", "do_center", {{"width"}}, center},
      {"wordwrap",
       "do_wordwrap",
       {{"width"}, {"break_long_words"}, {"wrapstring"}, {"break_on_hyphens"}},
       word_wrap},
  };
  return kFilters;
}

}  // namespace tandem::jinja
