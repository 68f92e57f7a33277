#include "text/tokenizer/normalized_text.h"

#include <utility>

namespace tandem {

size_t NormalizedText::source_begin(size_t begin) const {
  if (!changed_) return begin;
  return begin < begins_.size() ? begins_[begin] : source_size_;
}

size_t NormalizedText::source_end(size_t begin, size_t end) const {
  if (!changed_) return end;
  if (end > begin && end <= ends_.size()) return ends_[end - 1];
  return source_begin(begin);
}

void NormalizedText::Rewrite::copy(size_t from, size_t to) {
  text_.append(target_.text_, from, to - from);
  if (!target_.track_offsets_) return;
  for (size_t i = from; i < to; ++i) {
    begins_.push_back(static_cast<uint32_t>(target_.source_begin(i)));
    ends_.push_back(static_cast<uint32_t>(target_.source_end(i, i + 1)));
  }
}

void NormalizedText::Rewrite::put(std::string_view bytes, size_t from, size_t to) {
  text_.append(bytes);
  if (!target_.track_offsets_) return;
  begins_.insert(begins_.end(), bytes.size(), static_cast<uint32_t>(target_.source_begin(from)));
  ends_.insert(ends_.end(), bytes.size(), static_cast<uint32_t>(target_.source_end(from, to)));
}

void NormalizedText::Rewrite::commit() {
  target_.owned_ = std::move(text_);
  target_.text_ = target_.owned_;
  target_.begins_ = std::move(begins_);
  target_.ends_ = std::move(ends_);
  target_.changed_ = true;
}

}  // namespace tandem
