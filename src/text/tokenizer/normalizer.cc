#include "text/tokenizer/normalizer.h"

#include <utility>

// The normalizer steps that are plain string edits.

namespace tandem {

Result<void> Normalizer::apply(NormalizedText& text) const {
  for (const Step& step : steps_) TANDEM_TRY(step(text));
  return {};
}

Normalizer::Step replace_string(std::string from, std::string to) {
  return [from = std::move(from), to = std::move(to)](NormalizedText& target) -> Result<void> {
    const std::string_view text = target.text();
    size_t found = text.find(from);
    if (from.empty() || found == std::string_view::npos) return {};
    NormalizedText::Rewrite rewrite(target);
    size_t done = 0;
    for (; found != std::string_view::npos; found = text.find(from, done)) {
      rewrite.copy(done, found);
      rewrite.put(to, found, found + from.size());
      done = found + from.size();
    }
    rewrite.copy(done, text.size());
    rewrite.commit();
    return {};
  };
}

Normalizer::Step sentencepiece_spaces(bool prefix, bool squeeze) {
  return [prefix, squeeze](NormalizedText& target) -> Result<void> {
    const std::string_view text = target.text();
    NormalizedText::Rewrite rewrite(target);
    bool prefixed = !prefix;
    bool in_word = false;
    for (size_t pos = 0; pos < text.size(); ++pos) {
      if (text[pos] == ' ') {
        in_word = false;
        if (!squeeze) rewrite.copy(pos, pos + 1);
        continue;
      }
      if (!in_word && (!prefixed || squeeze)) {
        rewrite.put(" ", pos, pos);
        prefixed = true;
      }
      in_word = true;
      rewrite.copy(pos, pos + 1);
    }
    rewrite.commit();
    return {};
  };
}

Normalizer::Step prepend_string(std::string prefix) {
  return [prefix = std::move(prefix)](NormalizedText& target) -> Result<void> {
    if (target.text().empty()) return {};
    NormalizedText::Rewrite rewrite(target);
    rewrite.put(prefix, 0, 0);
    rewrite.copy(0, target.text().size());
    rewrite.commit();
    return {};
  };
}

}  // namespace tandem
