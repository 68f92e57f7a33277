#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/token_id.h"

namespace tandem {

/// A token that is found in the text as a whole, before anything else looks at it.
struct AddedToken {
  std::string text;
  TokenId id = kNoId;
  /// Only found when the caller asks for control tokens.
  bool control = false;
  /// Takes the white space before (after) it along.
  bool strip_left = false;
  bool strip_right = false;
  /// Not found inside a word.
  bool single_word = false;
  /// Looked for in the normalised text rather than the original one.
  bool normalized = false;

  static constexpr TokenId kNoId = -1;
};

/// Strings by their bytes, for finding the longest one at a place.
class TokenTrie {
 public:
  void add(std::string_view text, uint32_t value);
  bool empty() const { return nodes_.size() == 1; }
  /// Whether a string begins with this byte.
  bool begins_with(uint8_t byte) const { return first_bytes_[byte]; }
  struct Match {
    uint32_t value;
    size_t end;
  };
  std::optional<Match> longest_at(std::string_view text, size_t pos) const;
  /// Calls `found(value, end)` for every string that begins at `pos`, the shortest first.
  template <class Found>
  void for_each_at(std::string_view text, size_t pos, const Found& found) const {
    if (!begins_with(static_cast<uint8_t>(text[pos]))) return;
    uint32_t node = 0;
    while (pos < text.size()) {
      const uint32_t* next = child(node, static_cast<uint8_t>(text[pos]));
      if (next == nullptr) return;
      node = *next;
      ++pos;
      if (nodes_[node].value != kNoValue) found(nodes_[node].value, pos);
    }
  }

 private:
  struct Node {
    std::vector<std::pair<uint8_t, uint32_t>> next;  ///< sorted by byte
    uint32_t value = kNoValue;
  };
  static constexpr uint32_t kNoValue = UINT32_MAX;
  const uint32_t* child(uint32_t node, uint8_t byte) const;

  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::array<bool, 256> first_bytes_{};
};

/// The added tokens of a tokenizer and the search for them: leftmost first, the longest there.
class AddedTokens {
 public:
  AddedTokens() = default;
  explicit AddedTokens(std::vector<AddedToken> tokens);

  /// A stretch of text that is one added token, or none of it.
  struct Part {
    size_t begin;
    size_t end;
    const AddedToken* token;  ///< null: ordinary text
  };
  /// True for a range of the text that must not become a control token.
  using IsLiteral = std::function<bool(size_t begin, size_t end)>;
  /// Cuts `text` into parts that cover it, empty ones left out. `normalized` picks which tokens.
  /// Without `is_literal` every control token counts, when `control` asks for them at all.
  std::vector<Part> split(std::string_view text, bool normalized, bool control,
                          const IsLiteral& is_literal = {}) const;

  /// The added token of exactly this text.
  std::optional<TokenId> find(std::string_view text) const;
  const std::vector<AddedToken>& all() const { return tokens_; }

 private:
  std::optional<TokenTrie::Match> longest_at(const TokenTrie& trie, std::string_view text,
                                             size_t pos, const IsLiteral& is_literal) const;

  std::vector<AddedToken> tokens_;
  /// [normalized][with control tokens]
  TokenTrie tries_[2][2];
};

}  // namespace tandem
