#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace tandem {

/// A 64-bit hash of short byte strings for tables in memory. Not for adversaries: a file made to
/// collide only makes itself slow.
inline uint64_t hash_bytes(std::string_view bytes) {
  constexpr uint64_t kA = 0x9E3779B97F4A7C15;
  constexpr uint64_t kB = 0xD6E8FEB86659FD93;
  const auto load = [](const char* from, size_t n) {
    uint64_t value = 0;
    std::memcpy(&value, from, n);
    return value;
  };
  const auto mix = [](uint64_t a, uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
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
  if (left == 0) return mix(state, kB);
  const uint64_t packed = load(p, 1) | load(p + left / 2, 1) << 8 | load(p + left - 1, 1) << 16;
  return mix(packed ^ state, kB);
}

}  // namespace tandem
