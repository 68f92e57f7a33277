#include "text/tokenizer/vocabulary.h"

#include <algorithm>
#include <bit>
#include <cstring>

// The token table. The index is a flat hash table because a look-up per word is most of encoding.

namespace tandem {
namespace {

uint64_t load(const char* bytes, size_t n) {
  uint64_t value = 0;
  std::memcpy(&value, bytes, n);
  return value;
}

uint64_t mix(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

/// Not for adversaries: a file made to collide only makes itself slow.
uint64_t hash_bytes(std::string_view bytes) {
  constexpr uint64_t kA = 0x9E3779B97F4A7C15;
  constexpr uint64_t kB = 0xD6E8FEB86659FD93;
  const char* p = bytes.data();
  size_t left = bytes.size();
  uint64_t state = kA ^ left;
  while (left > 16) {
    state = mix(load(p, 8) ^ state, load(p + 8, 8) ^ kB);
    p += 16;
    left -= 16;
  }
  if (left > 8) return mix(load(p, 8) ^ state, load(p + left - 8, 8) ^ kB);
  if (left >= 4) return mix(load(p, 4) ^ state, load(p + left - 4, 4) ^ kB);
  if (left > 0) {
    const uint64_t packed =
        static_cast<uint8_t>(p[0]) | load(p + left / 2, 1) << 8 | load(p + left - 1, 1) << 16;
    return mix(packed ^ state, kB);
  }
  return mix(state, kB);
}

constexpr uint64_t kTagMask = 0xFFFFFFFF00000000;

bool is_findable(TokenKind kind) {
  return kind != TokenKind::kControl && kind != TokenKind::kUnknown && kind != TokenKind::kByte;
}

}  // namespace

void Vocabulary::reserve(size_t n_tokens, size_t n_bytes) {
  bytes_.reserve(n_bytes);
  starts_.reserve(n_tokens + 1);
  kinds_.reserve(n_tokens);
  scores_.reserve(n_tokens);
}

void Vocabulary::add(std::string_view piece, TokenKind kind, float score) {
  bytes_.append(piece);
  starts_.push_back(static_cast<uint32_t>(bytes_.size()));
  kinds_.push_back(kind);
  scores_.push_back(score);
}

Vocabulary::Duplicates Vocabulary::build_index() {
  Duplicates duplicates;
  byte_tokens_.fill(kNoToken);
  slots_.assign(std::bit_ceil(2 * kinds_.size() + 1), 0);
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
    slots_[slot] = (hash & kTagMask) | static_cast<uint64_t>(id + 1);
    longest_ = std::max(longest_, bytes.size());
  }
  return duplicates;
}

TokenId Vocabulary::find(std::string_view bytes) const {
  const size_t mask = slots_.size() - 1;
  const uint64_t hash = hash_bytes(bytes);
  for (size_t slot = hash & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    if ((slots_[slot] & kTagMask) != (hash & kTagMask)) continue;
    const auto id = static_cast<TokenId>((slots_[slot] & ~kTagMask) - 1);
    if (piece(id) == bytes) return id;
  }
  return kNoToken;
}

}  // namespace tandem
