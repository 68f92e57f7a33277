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
    margin = html_escaped(margin);
  }
  const bool first = bound[1] != nullptr && truthy(*bound[1]);
  const bool blank = bound[2] != nullptr && truthy(*bound[2]);
  const std::string text = std::string(input.text()) + "\n";
  TextBuilder out(heap);
  if (first) out.append(margin);
  const auto lines = split_lines(text, false);
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
  return heap.string(kept + (input.is_safe() ? html_escaped(end) : end), input.is_safe());
}

Result<Value> center(Interpreter& interpreter, const Value& input, const Bound& bound) {
  Heap& heap = interpreter.heap();
  TANDEM_TRY(const Int width, int_argument(bound[0], 80));
  const Value text = soft_string(heap, input);
  return heap.string(padded(heap, text.text(), width, U' ', Padding::kCenter), text.is_safe());
}

/// Words and white space of a line, in turn.
std::vector<std::u32string> chunks_of(const std::u32string& line, bool break_on_hyphens) {
  const auto is_blank = [](char32_t c) { return c < 0x80 && is_space(c); };
  const auto is_word = [](char32_t c) { return is_alnum(c) || c == '_'; };
  std::vector<std::u32string> chunks;
  std::u32string chunk;
  for (size_t i = 0; i < line.size(); ++i) {
    const char32_t c = line[i];
    if (!chunk.empty() && is_blank(c) != is_blank(chunk.back())) {
      chunks.push_back(std::exchange(chunk, {}));
    }
    chunk += c;
    // A hyphen between letters ends a chunk: the line may break behind it.
    const bool hyphenated = break_on_hyphens && c == '-' && chunk.size() >= 3 &&
                            is_word(chunk[chunk.size() - 2]) && is_word(chunk[chunk.size() - 3]) &&
                            i + 2 < line.size() && is_alpha(line[i + 1]) && is_alpha(line[i + 2]);
    if (hyphenated) chunks.push_back(std::exchange(chunk, {}));
  }
  if (!chunk.empty()) chunks.push_back(std::move(chunk));
  return chunks;
}

struct WrapOptions {
  size_t width;
  bool break_long_words, break_on_hyphens;
};

bool is_blank_chunk(const std::u32string& chunk) { return chunk[0] < 0x80 && is_space(chunk[0]); }

/// Python's textwrap.wrap of one line, white space kept as it is within lines.
std::vector<std::u32string> wrap_line(const std::u32string& line, const WrapOptions& options) {
  std::vector<std::u32string> chunks = chunks_of(line, options.break_on_hyphens);
  std::reverse(chunks.begin(), chunks.end());
  std::vector<std::u32string> lines;
  while (!chunks.empty()) {
    if (!lines.empty() && is_blank_chunk(chunks.back())) {
      chunks.pop_back();
      continue;
    }
    std::vector<std::u32string> current;
    size_t length = 0;
    while (!chunks.empty() && length + chunks.back().size() <= options.width) {
      length += chunks.back().size();
      current.push_back(std::move(chunks.back()));
      chunks.pop_back();
    }
    if (!chunks.empty() && chunks.back().size() > options.width) {
      const size_t room = options.width - length;
      if (options.break_long_words) {
        const size_t cut = options.width < 1 ? 1 : room;
        current.push_back(chunks.back().substr(0, cut));
        chunks.back().erase(0, cut);
      } else if (current.empty()) {
        current.push_back(std::move(chunks.back()));
        chunks.pop_back();
      }
    }
    while (!current.empty() && (current.back().empty() || is_blank_chunk(current.back()))) {
      current.pop_back();
    }
    if (current.empty()) continue;
    std::u32string joined;
    for (const auto& chunk : current) joined += chunk;
    lines.push_back(std::move(joined));
  }
  return lines;
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
  TextBuilder out(heap);
  bool first = true;
  for (const std::string_view line : split_lines(input.text(), false)) {
    const auto wrapped = wrap_line(to_code_points(line), options);
    if (!first) out.append(separator);
    first = false;
    for (size_t i = 0; i < wrapped.size() && !out.full(); ++i) {
      if (i > 0) out.append(separator);
      for (const char32_t c : wrapped[i]) out.append_char(c);
    }
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
