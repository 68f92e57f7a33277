#pragma once

#include <immintrin.h>

#include "kernels/linear/packed_format.h"
#include "kernels/linear/repeat.h"

// AVX2 readers of packed weights. A register holds eight of a tile's sixteen rows: `half` is 0 for
// rows 0-7, 1 for rows 8-15.

namespace tandem::kernels::avx2 {
namespace {

using packed::Format;

inline __m256i load256(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
inline __m128i load128(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
inline __m128i load64(const void* p) { return _mm_loadl_epi64(static_cast<const __m128i*>(p)); }
inline __m256 halves_at(const std::byte* p) { return _mm256_cvtph_ps(load128(p)); }
inline __m256i bytes_at(const void* p) { return _mm256_cvtepu8_epi32(load64(p)); }

/// Formats whose values need all eight bits are kept signed; the others as unsigned codes.
template <class F>
inline constexpr bool kSigned = F::kOffset == 128;

/// The largest unsigned code.
template <class F>
inline constexpr int kLargestCode = packed::HasTable<F> ? 2 * F::kOffset
                                                        : (1 << (F::kLowBits + F::kHighBits)) - 1;

template <int from, int to>
[[gnu::always_inline]] inline __m256i moved(__m256i v) {
  if constexpr (from > to) return _mm256_srli_epi16(v, from - to);
  if constexpr (from < to) return _mm256_slli_epi16(v, to - from);
  return v;
}

template <class F>
[[gnu::always_inline]] inline __m256i value_table() {
  alignas(16) int8_t values[16];
  const int offset = kSigned<F> ? 0 : F::kOffset;
  for (int i = 0; i < 16; ++i) values[i] = static_cast<int8_t>(F::kTable[i] + offset);
  return _mm256_broadcastsi128_si256(load128(values));
}

/// The eight quads of a group for eight rows: 32-bit lane = row, byte = element of the quad.
template <class F>
[[gnu::always_inline]] inline void load_codes(const std::byte* group, int half, __m256i (&q)[8]) {
  constexpr int kLow = F::kLowBits, kHigh = F::kHighBits;
  group += 32 * half;
  const __m256i mask = _mm256_set1_epi8(static_cast<char>((1 << kLow) - 1));
  repeat<8>([&]<int i>() TANDEM_INLINE_LAMBDA {
    const __m256i v = load256(group + i % kLow * packed::kQuadBytes);
    q[i] = kLow == 8 ? v : _mm256_and_si256(moved<i / kLow * kLow, 0>(v), mask);
  });
  if constexpr (kHigh > 0) {
    const __m256i bits = _mm256_set1_epi8(((1 << kHigh) - 1) << kLow);
    repeat<8>([&]<int i>() TANDEM_INLINE_LAMBDA {
      const __m256i v = load256(group + F::kLowBytes + i % kHigh * packed::kQuadBytes);
      q[i] = _mm256_or_si256(q[i], _mm256_and_si256(moved<i / kHigh * kHigh, kLow>(v), bits));
    });
  }
  if constexpr (packed::HasTable<F>) {
    const __m256i table = value_table<F>();
    repeat<8>([&]<int i>() TANDEM_INLINE_LAMBDA { q[i] = _mm256_shuffle_epi8(table, q[i]); });
  } else if constexpr (kSigned<F>) {
    const __m256i top = _mm256_set1_epi8(static_cast<char>(0x80));
    repeat<8>([&]<int i>() TANDEM_INLINE_LAMBDA { q[i] = _mm256_xor_si256(q[i], top); });
  }
}

/// Eight 6-bit values for 16 rows to bytes, (8, 16).
inline void load_six_bits(const std::byte* p, uint8_t* out) {
  const __m256i first = load256(p), second = load256(p + 32), lower = load256(p + 64);
  const __m256i six = _mm256_set1_epi8(63), nibble = _mm256_set1_epi8(15);
  const __m256i upper = _mm256_set1_epi8(0x30);
  const auto put = [&](int i, __m256i v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 32 * i), v);
  };
  put(0, _mm256_and_si256(first, six));
  put(1, _mm256_and_si256(second, six));
  put(2, _mm256_or_si256(_mm256_and_si256(lower, nibble),
                         _mm256_and_si256(_mm256_srli_epi16(first, 2), upper)));
  put(3, _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(lower, 4), nibble),
                         _mm256_and_si256(_mm256_srli_epi16(second, 2), upper)));
}

/// 2^(e - 128) of eight exponent bytes.
inline __m256 mxfp4_scales_at(const std::byte* p) {
  const __m256i e = bytes_at(p);
  const __m256i normal = _mm256_slli_epi32(_mm256_sub_epi32(e, _mm256_set1_epi32(1)), 23);
  const __m256i subnormal = _mm256_sllv_epi32(_mm256_set1_epi32(0x00200000), e);
  const __m256i is_small = _mm256_cmpgt_epi32(_mm256_set1_epi32(2), e);
  return _mm256_castsi256_ps(_mm256_blendv_epi8(normal, subnormal, is_small));
}

inline __m256 negated(__m256 x) { return _mm256_xor_ps(x, _mm256_set1_ps(-0.0f)); }

/// Scales of the groups of a super-block, or of consecutive blocks of 32: `scale(g, half)`,
/// `minimum(g, half)`. `chunk` is the first block's address.
template <DType type>
struct Scales {
  const std::byte* chunk;
  explicit Scales(const std::byte* p) : chunk(p) {}
  __m256 scale(int g, int half) const {
    return halves_at(chunk + g * Format<type>::kBlockBytes + 16 * half);
  }
  __m256 minimum(int g, int half) const {
    return halves_at(chunk + g * Format<type>::kBlockBytes + 32 + 16 * half);
  }
};
template <>
struct Scales<DType::kMXFP4> {
  const std::byte* chunk;
  explicit Scales(const std::byte* p) : chunk(p) {}
  __m256 scale(int g, int half) const {
    return mxfp4_scales_at(chunk + g * Format<DType::kMXFP4>::kBlockBytes + 8 * half);
  }
};
template <>
struct Scales<DType::kQ2_0> {
  const std::byte* chunk;
  explicit Scales(const std::byte* p) : chunk(p) {}
  __m256 scale(int g, int half) const {
    return halves_at(chunk + g / 2 * Format<DType::kQ2_0>::kBlockBytes + 16 * half);
  }
};
struct SixBitScales {
  uint8_t scales[128], minima[128];
  const std::byte* header;
  explicit SixBitScales(const std::byte* p) : header(p) {
    load_six_bits(header + 64, scales);
    load_six_bits(header + 64 + packed::kSixBytes, minima);
  }
  __m256 scale(int g, int half) const {
    const __m256 units = _mm256_cvtepi32_ps(bytes_at(scales + 16 * g + 8 * half));
    return _mm256_mul_ps(halves_at(header + 16 * half), units);
  }
  __m256 minimum(int g, int half) const {
    const __m256 units = _mm256_cvtepi32_ps(bytes_at(minima + 16 * g + 8 * half));
    return _mm256_mul_ps(negated(halves_at(header + 32 + 16 * half)), units);
  }
};
template <>
struct Scales<DType::kQ4_K> : SixBitScales {
  using SixBitScales::SixBitScales;
};
template <>
struct Scales<DType::kQ5_K> : SixBitScales {
  using SixBitScales::SixBitScales;
};
template <>
struct Scales<DType::kIQ4_XS> {
  uint8_t scales[128];
  const std::byte* header;
  explicit Scales(const std::byte* p) : header(p) { load_six_bits(header + 32, scales); }
  __m256 scale(int g, int half) const {
    const __m256i units =
        _mm256_sub_epi32(bytes_at(scales + 16 * g + 8 * half), _mm256_set1_epi32(32));
    return _mm256_mul_ps(halves_at(header + 16 * half), _mm256_cvtepi32_ps(units));
  }
};

/// Integer scales of half group h of a super-block as floats, and for Q2_K the minima.
template <DType type>
struct SubScales;
template <>
struct SubScales<DType::kQ6_K> {
  const std::byte* header;
  explicit SubScales(const std::byte* p) : header(p) {}
  __m256 sub_scale(int h, int half) const {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(load64(header + 32 + 16 * h + 8 * half)));
  }
};
template <>
struct SubScales<DType::kQ3_K> {
  uint8_t scales[256];
  explicit SubScales(const std::byte* header) {
    load_six_bits(header + 32, scales);
    load_six_bits(header + 32 + packed::kSixBytes, scales + 128);
  }
  __m256 sub_scale(int h, int half) const {
    return _mm256_cvtepi32_ps(
        _mm256_sub_epi32(bytes_at(scales + 16 * h + 8 * half), _mm256_set1_epi32(32)));
  }
};
template <>
struct SubScales<DType::kQ2_K> {
  const std::byte* header;
  explicit SubScales(const std::byte* p) : header(p) {}
  __m256i bytes(int h, int half) const { return bytes_at(header + 64 + 16 * h + 8 * half); }
  __m256 sub_scale(int h, int half) const {
    return _mm256_cvtepi32_ps(_mm256_and_si256(bytes(h, half), _mm256_set1_epi32(15)));
  }
  /// The minima of both half groups of group g as a pair of int16.
  __m256i sub_minima(int g, int half) const {
    const __m256i first = _mm256_srli_epi32(bytes(2 * g, half), 4);
    const __m256i second = _mm256_srli_epi32(bytes(2 * g + 1, half), 4);
    return _mm256_or_si256(first, _mm256_slli_epi32(second, 16));
  }
};

}  // namespace
}  // namespace tandem::kernels::avx2
