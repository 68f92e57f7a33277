#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/token_id.h"
#include "text/tokenizer/byte_hash.h"

namespace tandem {

/// The tokens of words seen before in one encode call. Texts repeat few words most of the time, and
/// those then cost one cache line instead of look-ups all over a vocabulary of megabytes. Direct
/// mapped: a new word takes the place of an older one.
class WordCache {
 public:
  static constexpr size_t kMaxBytes = 30;
  static constexpr size_t kMaxTokens = 8;

  struct alignas(64) Entry {
    uint8_t n_bytes = 0;  ///< 0: free
    uint8_t n_tokens = 0;
    std::array<char, kMaxBytes> bytes;
    std::array<TokenId, kMaxTokens> tokens;

    bool holds(std::string_view word) const {
      return n_bytes == word.size() && std::memcmp(bytes.data(), word.data(), word.size()) == 0;
    }
    /// `n` <= kMaxTokens; `word` is no longer than kMaxBytes.
    void set(std::string_view word, const TokenId* ids, size_t n) {
      n_bytes = static_cast<uint8_t>(word.size());
      n_tokens = static_cast<uint8_t>(n);
      std::memcpy(bytes.data(), word.data(), word.size());
      std::copy(ids, ids + n, tokens.begin());
    }
  };

  /// No more entries than a text of this size can use; short texts get none.
  explicit WordCache(size_t text_bytes) {
    constexpr size_t kSmallestText = 1024;
    constexpr size_t kMaxEntries = 4096;  // 256 KiB, about a core's second-level cache
    if (text_bytes < kSmallestText) return;
    entries_.resize(std::min(std::bit_ceil(text_bytes / 16), kMaxEntries));
  }

  /// Where `word` is or would be; null when it is not worth keeping.
  Entry* entry_of(std::string_view word) {
    if (entries_.empty() || word.empty() || word.size() > kMaxBytes) return nullptr;
    return &entries_[hash_bytes(word) & (entries_.size() - 1)];
  }

 private:
  std::vector<Entry> entries_;
};

}  // namespace tandem
