// Arguments of a call that are written in JSON.

#include "text/reply/arguments_reader.h"

namespace tandem {

void ArgumentsReader::reset() {
  scanner_.reset();
  is_started_ = false;
  held_.clear();
}

ArgumentsReader::Status ArgumentsReader::read(ReplyText& in, ReplyBuilder& out) {
  if (!is_started_) {
    in.skip_space();
    if (in.is_empty()) return Status::kNeedsText;
    const char first = in.rest().front();
    if (first != '{' && first != '"' && first != 'n') return Status::kBroken;
    is_object_ = first == '{';
    is_started_ = true;
  }
  auto step = JsonScanner::Step::kMore;
  size_t n = 0;
  const std::string_view text = in.rest();
  while (n < text.size() && step == JsonScanner::Step::kMore) step = scanner_.feed(text[n++]);
  if (step == JsonScanner::Step::kError) --n;
  if (is_object_) {
    out.arguments(in.take(n));
  } else {
    held_.append(in.take(n));
  }
  if (step == JsonScanner::Step::kMore) return Status::kNeedsText;
  if (step == JsonScanner::Step::kError) return Status::kBroken;
  return is_object_ ? Status::kDone : finish_held(out);
}

ArgumentsReader::Status ArgumentsReader::finish_held(ReplyBuilder& out) const {
  std::string json = held_.front() == '"' ? decode_json_string(held_) : "{}";
  if (trim(json).empty()) json = "{}";
  if (trim(json).front() != '{' || !is_json(json)) return Status::kBroken;
  out.arguments(trim(json));
  return Status::kDone;
}

}  // namespace tandem
