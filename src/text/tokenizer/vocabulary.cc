#include "text/tokenizer/vocabulary.h"

#include <algorithm>
#include <bit>

#include "text/tokenizer/byte_hash.h"

// The token table. The index is a flat hash table because a look-up per word is most of encoding.

namespace tandem {
namespace {

constexpr uint64_t kTagMask = 0xFFFFFFFF00000000;

bool is_findable(TokenKind kind) {
  return kind != TokenKind::kControl && kind != TokenKind::kUnknown && kind != TokenKind::kByte;
}

}  // namespace

void Vocabulary::reserve(size_t n_tokens, size_t n_bytes) {
  records_.reserve(n_bytes + n_tokens * 2 * sizeof(uint32_t));
  starts_.reserve(n_tokens);
  kinds_.reserve(n_tokens);
  scores_.reserve(n_tokens);
}

void Vocabulary::add(std::string_view piece, TokenKind kind, float score) {
  const uint32_t header[2] = {static_cast<uint32_t>(size()), static_cast<uint32_t>(piece.size())};
  starts_.push_back(static_cast<uint32_t>(records_.size()));
  records_.append(reinterpret_cast<const char*>(header), sizeof(header));
  records_.append(piece);
  kinds_.push_back(kind);
  scores_.push_back(score);
}

Vocabulary::Duplicates Vocabulary::build_index() {
  Duplicates duplicates;
  byte_tokens_.fill(kNoToken);
  slots_.assign(std::bit_ceil(kinds_.size() + kinds_.size() / 2 + 1), 0);
  const size_t mask = slots_.size() - 1;
  for (TokenId id = 0; id < size(); ++id) {
    const std::string_view bytes = piece(id);
    if (kind(id) == TokenKind::kByte && bytes.size() == 1) {
      TokenId& slot = byte_tokens_[static_cast<uint8_t>(bytes[0])];
      if (slot == kNoToken) slot = id;
    }
    if (!is_findable(kind(id)) || bytes.empty()) continue;
    if (const TokenId earlier = find(bytes); earlier != kNoToken) {
      if (duplicates.count++ == 0) {
        duplicates.first = earlier;
        duplicates.second = id;
      }
      continue;
    }
    const uint64_t hash = hash_bytes(bytes);
    size_t slot = hash & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = (hash & kTagMask) | (uint64_t{starts_[static_cast<size_t>(id)]} + 1);
    longest_ = std::max(longest_, bytes.size());
  }
  return duplicates;
}

TokenId Vocabulary::find(std::string_view bytes) const {
  const size_t mask = slots_.size() - 1;
  const uint64_t hash = hash_bytes(bytes);
  for (size_t slot = hash & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    if ((slots_[slot] & kTagMask) != (hash & kTagMask)) continue;
    const Record record = record_at(static_cast<uint32_t>(slots_[slot] & ~kTagMask) - 1);
    if (record.piece == bytes) return record.id;
  }
  return kNoToken;
}

}  // namespace tandem
