#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/token_id.h"

namespace tandem {

/// What a token is for; the values are those of GGUF's tokenizer.ggml.token_type.
enum class TokenKind : uint8_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,      ///< never made from a user's text
  kUserDefined = 4,  ///< found in the text before anything else
  kUnused = 5,
  kByte = 6,  ///< stands for one byte that no other token covers
};

inline constexpr TokenId kNoToken = -1;

/// Pieces, kinds and scores of the tokens, and the way back from bytes to token. Filled once with
/// `add`, then `build_index`; immutable from there on.
///
/// Pieces are the bytes a token stands for (byte-level escapes undone, the marker U+2581 as a
/// space), so encoding compares them with the text as it is and decoding copies them.
class Vocabulary {
 public:
  /// All pieces together may have no more bytes than this, and there are at most 2^24 tokens.
  static constexpr size_t kMaxBytes = size_t{1} << 31;
  void reserve(size_t n_tokens, size_t n_bytes);
  /// The next id gets this piece.
  void add(std::string_view piece, TokenKind kind, float score = 0);
  void set_kind(TokenId token, TokenKind kind) { kinds_[static_cast<size_t>(token)] = kind; }
  /// The model's own tokens become findable: all but control, unknown and byte tokens. Of several
  /// with equal pieces the lowest id wins; the others are reported.
  struct Duplicates {
    size_t count = 0;
    TokenId first = kNoToken;  ///< the first pair found
    TokenId second = kNoToken;
  };
  Duplicates build_index();

  int32_t size() const { return static_cast<int32_t>(kinds_.size()); }
  bool contains(TokenId token) const { return token >= 0 && token < size(); }
  std::string_view piece(TokenId token) const {
    return record_at(starts_[static_cast<size_t>(token)]).piece;
  }
  TokenKind kind(TokenId token) const { return kinds_[static_cast<size_t>(token)]; }
  float score(TokenId token) const { return scores_[static_cast<size_t>(token)]; }

  /// HOT: bench/tokenizer. The model's token whose piece is `bytes`, or kNoToken.
  TokenId find(std::string_view bytes) const;
  /// The byte token of this value, or kNoToken.
  TokenId byte_token(uint8_t value) const { return byte_tokens_[value]; }
  /// Length of the longest piece in the index.
  size_t longest_piece() const { return longest_; }

 private:
  struct Record {
    TokenId id;
    std::string_view piece;
  };
  Record record_at(uint32_t start) const {
    uint32_t header[2];
    std::memcpy(header, records_.data() + start, sizeof(header));
    return {static_cast<TokenId>(header[0]), {records_.data() + start + sizeof(header), header[1]}};
  }

  /// Per token its id, its length and its bytes, next to each other: a look-up that ends at a
  /// token touches one place in memory.
  std::string records_;
  std::vector<uint32_t> starts_;  ///< of the records, by id
  std::vector<TokenKind> kinds_;
  std::vector<float> scores_;
  /// Open addressing: hash tag in the upper half, start of the record + 1 in the lower; 0 is free.
  std::vector<uint64_t> slots_;
  std::array<TokenId, 256> byte_tokens_{};
  size_t longest_ = 0;
};

}  // namespace tandem
