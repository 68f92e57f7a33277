#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer/normalized_text.h"

namespace tandem {

/// The steps that rewrite a text before it is cut into words. Immutable once built.
class Normalizer {
 public:
  using Step = std::function<Result<void>(NormalizedText&)>;

  void add(Step step) { steps_.push_back(std::move(step)); }
  bool empty() const { return steps_.empty(); }
  Result<void> apply(NormalizedText& text) const;

 private:
  std::vector<Step> steps_;
};

/// Every `from` becomes `to`.
Normalizer::Step replace_string(std::string from, std::string to);
/// SentencePiece's handling of spaces: one before the text, and with `squeeze` none but single ones
/// between words.
Normalizer::Step sentencepiece_spaces(bool prefix, bool squeeze);
/// Puts `prefix` before a text that is not empty.
Normalizer::Step prepend_string(std::string prefix);

}  // namespace tandem
