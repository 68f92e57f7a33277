// Tool calls in the notation of Gemma 4 and FunctionGemma.

#include "text/reply/gemma_calls.h"

#include <algorithm>
#include <array>

#include "text/reply/json_scanner.h"

namespace tandem {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::string_view kCall = "call:";

/// Recursive descent, bounded by kMaxDepth.
class GemmaReader {
 public:
  GemmaReader(std::string_view text, std::string_view quote, std::string& out)
      : text_(text), quote_(quote), out_(out) {}
  bool object(int depth);
  bool is_at_end() const { return trim(text_).empty(); }

 private:
  bool value(int depth);
  bool list(int depth);
  bool take(std::string_view word);
  /// Text up to the closing mark, when a mark comes next.
  bool quoted(std::string_view& content);
  /// Text up to one of ",:]}" or the end.
  std::string_view bare();
  bool key();

  std::string_view text_;
  std::string_view quote_;
  std::string& out_;
};

bool GemmaReader::take(std::string_view word) {
  while (!text_.empty() && is_space(text_.front())) text_.remove_prefix(1);
  if (!text_.starts_with(word)) return false;
  text_.remove_prefix(word.size());
  return true;
}

bool GemmaReader::quoted(std::string_view& content) {
  if (!take(quote_)) return false;
  const size_t end = text_.find(quote_);
  if (end == std::string_view::npos) return false;
  content = text_.substr(0, end);
  text_.remove_prefix(end + quote_.size());
  return true;
}

std::string_view GemmaReader::bare() {
  const size_t end = std::min(text_.find_first_of(",:]}"), text_.size());
  const std::string_view word = trim(text_.substr(0, end));
  text_.remove_prefix(end);
  return word;
}

bool GemmaReader::key() {
  std::string_view name;
  if (!quoted(name)) name = bare();
  if (name.empty() || !take(":")) return false;
  append_json_string(out_, name);
  out_ += ": ";
  return true;
}

bool GemmaReader::object(int depth) {
  if (!take("{")) return false;
  out_ += '{';
  for (bool is_first = true; !take("}"); is_first = false) {
    if (!is_first && !take(",")) return false;
    if (!is_first) out_ += ", ";
    if (!key() || !value(depth + 1)) return false;
  }
  out_ += '}';
  return true;
}

bool GemmaReader::list(int depth) {
  out_ += '[';
  for (bool is_first = true; !take("]"); is_first = false) {
    if (!is_first && !take(",")) return false;
    if (!is_first) out_ += ", ";
    if (!value(depth + 1)) return false;
  }
  out_ += ']';
  return true;
}

bool GemmaReader::value(int depth) {
  if (depth > kMaxDepth) return false;
  std::string_view content;
  if (quoted(content)) {
    append_json_string(out_, content);
    return true;
  }
  if (trim(text_).starts_with('{')) return object(depth);
  if (take("[")) return list(depth);
  const std::string_view word = bare();
  if (word.empty()) return false;
  if (word == "None") {
    out_ += "null";
  } else if (is_json(word)) {
    out_ += word;
  } else {
    append_json_string(out_, word);
  }
  return true;
}

}  // namespace

bool append_gemma_object(std::string& out, std::string_view text, std::string_view quote) {
  std::string json;
  GemmaReader reader(text, quote, json);
  if (!reader.object(0) || !reader.is_at_end()) return false;
  out += json;
  return true;
}

GemmaCalls::Step GemmaCalls::step(ReplyText& in, ReplyBuilder& out) {
  return state_ == State::kName ? read_name(in, out) : read_arguments(in, out);
}

GemmaCalls::Step GemmaCalls::read_name(ReplyText& in, ReplyBuilder& out) {
  const std::array<std::string_view, 2> ends{"{", region_.end};
  const MarkerHit hit = in.take_until(ends, name_);
  if (hit.index == MarkerHit::kNone) return Step::kNeedsText;
  std::string_view name = trim(name_);
  if (hit.index != 0 || !name.starts_with(kCall)) return Step::kBreak;
  name = trim(name.substr(kCall.size()));
  if (name.empty()) return Step::kBreak;
  out.start_call(name, "");
  state_ = State::kArguments;
  return Step::kAgain;
}

GemmaCalls::Step GemmaCalls::read_arguments(ReplyText& in, ReplyBuilder& out) {
  const std::string_view quote = region_.words.value_begin;
  const std::array<std::string_view, 2> ends{quote, in_string_ ? "" : region_.end};
  const MarkerHit hit = in.take_until(ends, arguments_);
  if (hit.index == MarkerHit::kNone) return Step::kNeedsText;
  if (hit.index == 0) {
    arguments_.append(in.take(quote.size()));
    in_string_ = !in_string_;
    return Step::kAgain;
  }
  std::string json;
  if (!append_gemma_object(json, arguments_, quote)) return Step::kBreak;
  in.take(region_.end.size());
  out.arguments(json);
  complete_call(in, out);
  state_ = State::kEnded;
  return Step::kDone;
}

}  // namespace tandem
