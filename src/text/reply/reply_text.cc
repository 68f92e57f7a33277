// The unread part of a reply.

#include "text/reply/reply_text.h"

#include <utility>

namespace tandem {

void ReplyText::append(std::string_view text) {
  buffer_.erase(0, position_);
  position_ = 0;
  buffer_.append(text);
}

std::string_view ReplyText::take(size_t n) {
  const std::string_view taken = rest().substr(0, n);
  position_ += taken.size();
  if (is_recording_) record_.append(taken);
  return taken;
}

void ReplyText::skip_space() {
  size_t n = 0;
  const std::string_view text = rest();
  while (n < text.size() && is_space(text[n])) ++n;
  take(n);
}

ReplyText::Match ReplyText::take_if(std::string_view literal) {
  const std::string_view text = rest();
  if (text.starts_with(literal)) {
    take(literal.size());
    return Match::kYes;
  }
  return literal.starts_with(text) ? Match::kNeedsText : Match::kNo;
}

MarkerHit ReplyText::take_until(std::span<const std::string_view> markers, std::string& out) {
  const MarkerHit hit = find_marker(rest(), markers, is_final_);
  out.append(take(hit.position));
  return hit;
}

void ReplyText::start_record() {
  is_recording_ = true;
  record_.clear();
}

std::string ReplyText::take_record() { return std::exchange(record_, {}); }

void ReplyText::stop_record() {
  is_recording_ = false;
  record_.clear();
}

void ReplyText::give_back_record() {
  is_recording_ = false;
  buffer_ = take_record() + buffer_.substr(position_);
  position_ = 0;
}

}  // namespace tandem
