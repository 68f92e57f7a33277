#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer/normalizer.h"

namespace tandem {

/// SentencePiece's precompiled character map: a Darts double-array trie from character sequences
/// to their replacements, followed by the replacements as zero-terminated strings.
class CharMap {
 public:
  /// Errors: kCorruptFile when the sizes contradict each other. Every later access is checked, so
  /// that no content of the trie can lead outside of it.
  static Result<CharMap> parse(std::string_view bytes);

  struct Match {
    std::string_view replacement;
    size_t length;  ///< bytes of the text it replaces
  };
  /// The longest sequence at `pos` that the map knows.
  std::optional<Match> longest_at(std::string_view text, size_t pos) const;
  /// The replacement of exactly `text`.
  std::optional<std::string_view> replacement_of(std::string_view text) const;

 private:
  std::vector<uint32_t> units_;
  std::string replacements_;
};

/// Applies the map as SentencePiece does: the longest match at each place.
Normalizer::Step apply_char_map(CharMap map);

}  // namespace tandem
