#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tensor/dtype.h"

// The inputs of the block goldens, the same in the program that asks ggml and in the test that asks
// us: everything follows from integers and exactly rounded float operations.

namespace tandem::block_vectors {

/// splitmix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t bits() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  /// In [-1, 1), multiples of 2^-23.
  float uniform() {
    return static_cast<float>(static_cast<int64_t>(bits() >> 40) - 0x800000) * 0x1p-23f;
  }
  /// Nearly standard normal: six uniforms.
  float normal() {
    float sum = 0.0f;
    for (int i = 0; i < 6; ++i) sum += uniform();
    return sum * 0.70710678f;
  }

 private:
  uint64_t state_;
};

inline constexpr size_t kWeights = 8192;
inline constexpr std::string_view kWeightKinds[] = {
    "normal", "heavy_tailed", "positive", "negative", "outliers",
    "tiny",   "large",        "sparse",   "constant", "zero"};

/// kWeights values to encode.
inline std::vector<float> weights(std::string_view kind) {
  Random random(kind.size() * 1000 + static_cast<unsigned char>(kind[0]));
  std::vector<float> out(kWeights);
  for (size_t i = 0; i < out.size(); ++i) {
    const float x = random.normal();
    if (kind == "normal") out[i] = 0.02f * x;
    if (kind == "heavy_tailed") out[i] = 0.02f * x * random.normal() * random.normal();
    if (kind == "positive") out[i] = std::fabs(x) + 0.25f;
    if (kind == "negative") out[i] = -std::fabs(x) - 0.25f;
    if (kind == "outliers") out[i] = i % 61 == 0 ? 60.0f * x : x;
    if (kind == "tiny") out[i] = 0x1p-20f * x;
    if (kind == "large") out[i] = 1000.0f * x;
    if (kind == "sparse") out[i] = random.bits() % 8 == 0 ? x : 0.0f;
    if (kind == "constant") out[i] = (i / 256) % 2 == 0 ? 0.75f : -0.3f;
    if (kind == "zero") out[i] = 0.0f;
  }
  return out;
}

inline constexpr std::string_view kBlockKinds[] = {
    "typical", "any_bytes", "zero",     "negative_zero",     "subnormal", "largest_subnormal",
    "largest", "lowest",    "infinite", "negative_infinite", "nan"};

/// Where a block keeps its f16 scales.
inline std::vector<size_t> f16_offsets(DType type) {
  switch (type) {
    case DType::kQ4_1:
    case DType::kQ5_1:
    case DType::kQ4_K:
    case DType::kQ5_K:
      return {0, 2};
    case DType::kQ2_K:
      return {80, 82};
    case DType::kQ3_K:
      return {108};
    case DType::kQ6_K:
      return {208};
    case DType::kMXFP4:
      return {};
    default:
      return {0};
  }
}

inline uint16_t scale_of(std::string_view kind, Random& random) {
  // Exponents 2^-10 .. 2^-3, either sign.
  if (kind == "typical") return static_cast<uint16_t>((random.bits() & 0x9fffu) + 0x1400u);
  if (kind == "zero") return 0;
  if (kind == "negative_zero") return 0x8000;
  if (kind == "subnormal") return 0x0001;
  if (kind == "largest_subnormal") return 0x03ff;
  if (kind == "largest") return 0x7bff;
  if (kind == "lowest") return 0xfbff;
  if (kind == "infinite") return 0x7c00;
  if (kind == "negative_infinite") return 0xfc00;
  if (kind == "nan") return 0x7e01;
  return static_cast<uint16_t>(random.bits());
}

/// Blocks to decode: random codes and sub-block scales under the f16 scales (MXFP4: the exponent
/// byte) that `kind` names. "any_bytes" is many blocks, random throughout.
inline std::vector<std::byte> blocks(DType type, std::string_view kind) {
  const size_t block_bytes = info(type).block_bytes;
  const size_t n_blocks = kind == "any_bytes" ? 2048 : 16;
  Random random(static_cast<uint32_t>(type) * 1000 + kind.size());
  std::vector<std::byte> out(n_blocks * block_bytes);
  for (std::byte& byte : out) byte = static_cast<std::byte>(random.bits() >> 56);
  for (size_t b = 0; b < n_blocks; ++b) {
    for (const size_t offset : f16_offsets(type)) {
      const uint16_t scale = scale_of(kind, random);
      out[b * block_bytes + offset] = static_cast<std::byte>(scale & 0xff);
      out[b * block_bytes + offset + 1] = static_cast<std::byte>(scale >> 8);
    }
    if (type == DType::kMXFP4 && kind == "typical") out[b * block_bytes] = std::byte{120};
  }
  return out;
}

/// FNV-1a over bytes.
inline uint64_t hash_bytes(std::span<const std::byte> bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100000001b3u;
  return hash;
}

/// The same over floats, every NaN being one value: sign and payload of a NaN depend on the
/// compiler's choice of operand order.
inline uint64_t hash_floats(std::span<const float> values) {
  std::vector<uint32_t> words;
  for (const float v : values) {
    words.push_back(std::isnan(v) ? 0x7fc00000u : std::bit_cast<uint32_t>(v));
  }
  return hash_bytes(std::as_bytes(std::span(words)));
}

/// Root of the mean squared difference.
inline double rmse(std::span<const float> a, std::span<const float> b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

}  // namespace tandem::block_vectors
