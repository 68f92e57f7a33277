#include "base/hash.h"

#include <cstring>

namespace tandem {
namespace {

constexpr uint64_t kPrime = 0x100000001b3ull;
constexpr uint64_t kOffset = 0xcbf29ce484222325ull;

// The finaliser of MurmurHash3: FNV alone spreads high bits poorly.
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdull;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 33);
}

}  // namespace

uint64_t content_hash(std::span<const std::byte> bytes, uint64_t seed) {
  uint64_t state = kOffset ^ mix(seed + bytes.size());
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    state = (state ^ word) * kPrime;
    state ^= state >> 29;
  }
  for (; i < bytes.size(); ++i) state = (state ^ static_cast<uint64_t>(bytes[i])) * kPrime;
  return mix(state);
}

uint64_t damage_checksum(std::span<const std::byte> bytes) {
  constexpr size_t kLanes = 8, kBlock = kLanes * sizeof(uint64_t);
  uint64_t sums[2][kLanes] = {};
  size_t i = 0;
  for (; i + kBlock <= bytes.size(); i += kBlock) {
    uint64_t words[kLanes];
    std::memcpy(words, bytes.data() + i, kBlock);
    for (size_t lane = 0; lane < kLanes; ++lane) {
      sums[0][lane] += words[lane];
      sums[1][lane] += sums[0][lane];
    }
  }
  return content_hash(bytes.subspan(i), content_hash(std::as_bytes(std::span(sums)), bytes.size()));
}

}  // namespace tandem
