#include "text/tokenizer/streaming_detokenizer.h"

#include <algorithm>
#include <utility>

#include "text/unicode/utf8.h"

// Text passes two gates: raw_ keeps bytes until they are whole characters, held_ keeps text while
// its end may be the beginning of a stop string.

namespace tandem {
namespace {

/// Length of the longest proper prefix of `stop` that ends `text`.
size_t overlap(std::string_view text, std::string_view stop) {
  for (size_t n = std::min(text.size(), stop.size() - 1); n > 0; --n) {
    if (text.ends_with(stop.substr(0, n))) return n;
  }
  return 0;
}

}  // namespace

StreamingDetokenizer::StreamingDetokenizer(const Tokenizer& tokenizer,
                                           std::vector<std::string> stop_strings,
                                           DecodeOptions options)
    : tokenizer_(tokenizer), stop_strings_(std::move(stop_strings)), options_(options) {
  std::erase_if(stop_strings_, [](const std::string& stop) { return stop.empty(); });
  at_start_ = options.begins_text && tokenizer.strips_first_space();
}

std::string_view StreamingDetokenizer::push(TokenId token) {
  shown_.clear();
  if (stopped() || (tokenizer_.is_control(token) && !options_.shows(token))) return shown_;
  std::string_view piece = tokenizer_.piece_bytes(token);
  if (at_start_ && piece.starts_with(' ')) piece.remove_prefix(1);
  if (!tokenizer_.is_control(token)) at_start_ = false;
  raw_ += piece;
  const size_t n_whole = raw_.size() - incomplete_utf8_suffix(raw_);
  append_valid_utf8(held_, std::string_view(raw_).substr(0, n_whole));
  raw_.erase(0, n_whole);
  return release(false);
}

std::string_view StreamingDetokenizer::finish() {
  shown_.clear();
  if (stopped()) return shown_;
  append_valid_utf8(held_, raw_);
  raw_.clear();
  return release(true);
}

std::string_view StreamingDetokenizer::release(bool at_end) {
  size_t first = std::string::npos;
  for (const std::string& stop : stop_strings_) {
    const size_t found = held_.find(stop);
    // Of several that begin at one place the longest names the match.
    const bool better = found < first || (found == first && found != std::string::npos &&
                                          stop.size() > matched_stop_.size());
    if (!better) continue;
    first = found;
    matched_stop_ = stop;
  }
  if (first != std::string::npos) {
    shown_.assign(held_, 0, first);
    held_.clear();
    raw_.clear();
    return shown_;
  }
  size_t keep = 0;
  for (const std::string& stop : stop_strings_) {
    if (!at_end) keep = std::max(keep, overlap(held_, stop));
  }
  shown_.assign(held_, 0, held_.size() - keep);
  held_.erase(0, held_.size() - keep);
  return shown_;
}

}  // namespace tandem
