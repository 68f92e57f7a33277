#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/tokenizer/merge_model.h"

namespace tandem {

/// (left, right) -> rank and result of a merge; open addressing, built once.
class MergeTable {
 public:
  struct Merge {
    uint32_t rank;
    TokenId result;
  };
  void reserve(size_t n_merges);
  /// The first rule of a pair stays.
  void add(TokenId left, TokenId right, Merge merge);
  /// The rule that joins `pieces`, cut at byte `cut`. False when one of the three is no token.
  bool add_pieces(const Vocabulary& vocabulary, std::string_view pieces, size_t cut, uint32_t rank);
  const Merge* find(TokenId left, TokenId right) const {
    for (size_t slot = slot_of(left, right);; slot = (slot + 1) & (slots_.size() - 1)) {
      const Slot& s = slots_[slot];
      if (s.left == left && s.right == right) return &s.merge;
      if (s.left == kNoToken) return nullptr;
    }
  }
  size_t size() const { return n_merges_; }

 private:
  struct Slot {
    TokenId left = kNoToken;
    TokenId right = kNoToken;
    Merge merge{};
  };
  size_t slot_of(TokenId left, TokenId right) const {
    const uint64_t key = uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
    return (key * 0x9E3779B97F4A7C15) >> shift_;
  }
  std::vector<Slot> slots_ = std::vector<Slot>(2);
  uint32_t shift_ = 63;
  size_t n_merges_ = 0;
};

/// How a BPE model treats what its vocabulary lacks.
struct BpeOptions {
  /// Symbols start as bytes (GPT-2's byte-level alphabet) rather than characters.
  bool byte_level = true;
  /// A word that is a token as a whole is taken without merging.
  bool ignore_merges = false;
  /// A character without a token becomes the byte tokens of its UTF-8.
  bool byte_fallback = false;
  /// Several unknown characters in a row become one `unk`.
  bool fuse_unk = false;
  /// kNoToken: unknown characters vanish, as in the reference.
  TokenId unk = kNoToken;
};

/// Byte pair encoding with ranked merges.
class BpeModel : public MergeModel {
 public:
  BpeModel(const Vocabulary& vocabulary, MergeTable merges, const BpeOptions& options);

 protected:
  void merge(std::string_view text, ModelScratch& scratch) const override;
  /// Never called: unknown characters are settled before merging.
  void add_unknown(const Word&, const MergeSymbol&, TokenSink&) const override {}

 private:
  void start_from_bytes(std::string_view text, ModelScratch& scratch) const;
  void start_from_chars(std::string_view text, ModelScratch& scratch) const;
  void start_unknown(std::string_view text, size_t from, size_t to, ModelScratch& scratch) const;

  MergeTable merges_;
  BpeOptions options_;
  /// (256, 256) the merge of two bytes, in byte-level models: the ones for letters stay in the
  /// first-level cache, the table as a whole would not.
  std::vector<MergeTable::Merge> byte_merges_;
  std::array<TokenId, 256> byte_ids_;  ///< the token of each single byte or ASCII character
};

}  // namespace tandem
