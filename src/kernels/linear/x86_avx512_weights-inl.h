#pragma once

#include <immintrin.h>

#include "kernels/linear/packed_format.h"
#include "kernels/linear/repeat.h"

// AVX-512 readers of packed weights: what a register sees of each format.

namespace tandem::kernels::avx512 {
namespace {

using packed::Format;

inline __m512i load512(const void* p) { return _mm512_loadu_si512(p); }
inline __m256i load256(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
inline __m128i load128(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
inline __m512 halves_at(const std::byte* p) { return _mm512_cvtph_ps(load256(p)); }
inline __m512 unsigned_bytes_at(const void* p) {
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(load128(p)));
}
inline __m512 signed_bytes_at(const void* p) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(load128(p)));
}

/// v shifted within each byte so that bit `from` comes to bit `to`; the caller masks.
template <int from, int to>
[[gnu::always_inline]] inline __m512i moved(__m512i v) {
  if constexpr (from > to) return _mm512_srli_epi16(v, from - to);
  if constexpr (from < to) return _mm512_slli_epi16(v, to - from);
  return v;
}

/// The eight quads of a group as unsigned codes: lane = row, byte = element of the quad.
template <class F>
[[gnu::always_inline]] inline void load_codes(const std::byte* group, __m512i (&q)[8]) {
  constexpr int kLow = F::kLowBits, kHigh = F::kHighBits;
  const __m512i mask = _mm512_set1_epi8(static_cast<char>((1 << kLow) - 1));
  repeat<8>([&]<int i>() TANDEM_INLINE_LAMBDA {
    const __m512i v = load512(group + i % kLow * packed::kQuadBytes);
    q[i] = kLow == 8 ? v : _mm512_and_si512(moved<i / kLow * kLow, 0>(v), mask);
  });
  if constexpr (kHigh > 0) {
    const __m512i bits = _mm512_set1_epi8(((1 << kHigh) - 1) << kLow);
    repeat<8>([&]<int i>() TANDEM_INLINE_LAMBDA {
      const __m512i v = load512(group + F::kLowBytes + i % kHigh * packed::kQuadBytes);
      constexpr int kOrAnd = 0xf8;  // a | (b & c)
      const __m512i high = moved<i / kHigh * kHigh, kLow>(v);
      q[i] = _mm512_ternarylogic_epi32(q[i], high, bits, kOrAnd);
    });
  }
  if constexpr (packed::HasTable<F>) {
    alignas(16) int8_t values[16];
    for (int i = 0; i < 16; ++i) values[i] = static_cast<int8_t>(F::kTable[i] + F::kOffset);
    const __m512i table = _mm512_broadcast_i32x4(load128(values));
    repeat<8>([&]<int i>() TANDEM_INLINE_LAMBDA { q[i] = _mm512_shuffle_epi8(table, q[i]); });
  }
}

/// Eight 6-bit values for 16 rows to bytes, (8, 16).
[[gnu::always_inline]] inline void load_six_bits(const std::byte* p, uint8_t* out) {
  const __m512i first = load512(p);
  const __m256i second = load256(p + 64);
  const __m256i nibble = _mm256_set1_epi8(15);
  const __m512i lower =
      _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_and_si256(second, nibble)),
                         _mm256_and_si256(_mm256_srli_epi16(second, 4), nibble), 1);
  const __m512i upper = _mm512_and_si512(_mm512_srli_epi16(first, 2), _mm512_set1_epi8(0x30));
  _mm512_store_si512(out, _mm512_and_si512(first, _mm512_set1_epi8(63)));
  _mm512_store_si512(out + 64, _mm512_or_si512(lower, upper));
}

/// 2^(e - 128) of sixteen exponent bytes.
[[gnu::always_inline]] inline __m512 mxfp4_scales_at(const std::byte* p) {
  const __m512i e = _mm512_cvtepu8_epi32(load128(p));
  const __m512i normal = _mm512_slli_epi32(_mm512_sub_epi32(e, _mm512_set1_epi32(1)), 23);
  const __m512i subnormal = _mm512_sllv_epi32(_mm512_set1_epi32(0x00200000), e);
  const __mmask16 is_small = _mm512_cmplt_epi32_mask(e, _mm512_set1_epi32(2));
  return _mm512_castsi512_ps(_mm512_mask_blend_epi32(is_small, normal, subnormal));
}

/// Scales of the groups of a super-block, or of consecutive blocks of 32: `scale(g)`, `minimum(g)`.
/// `chunk` is the first block's address.
template <DType type>
struct Scales {
  const std::byte* chunk;
  explicit Scales(const std::byte* p) : chunk(p) {}
  __m512 scale(int g) const { return halves_at(chunk + g * Format<type>::kBlockBytes); }
  __m512 minimum(int g) const { return halves_at(chunk + g * Format<type>::kBlockBytes + 32); }
};
template <>
struct Scales<DType::kMXFP4> {
  const std::byte* chunk;
  explicit Scales(const std::byte* p) : chunk(p) {}
  __m512 scale(int g) const {
    return mxfp4_scales_at(chunk + g * Format<DType::kMXFP4>::kBlockBytes);
  }
};
template <>
struct Scales<DType::kQ2_0> {
  const std::byte* chunk;
  explicit Scales(const std::byte* p) : chunk(p) {}
  __m512 scale(int g) const { return halves_at(chunk + g / 2 * Format<DType::kQ2_0>::kBlockBytes); }
};
struct SixBitScales {
  alignas(64) uint8_t scales[128], minima[128];
  __m512 d, minus_dmin;
  explicit SixBitScales(const std::byte* header) : d(halves_at(header)) {
    minus_dmin = _mm512_sub_ps(_mm512_set1_ps(-0.0f), halves_at(header + 32));
    load_six_bits(header + 64, scales);
    load_six_bits(header + 64 + packed::kSixBytes, minima);
  }
  __m512 scale(int g) const { return _mm512_mul_ps(d, unsigned_bytes_at(scales + 16 * g)); }
  __m512 minimum(int g) const {
    return _mm512_mul_ps(minus_dmin, unsigned_bytes_at(minima + 16 * g));
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
  alignas(64) uint8_t scales[128];
  __m512 d;
  explicit Scales(const std::byte* header) : d(halves_at(header)) {
    load_six_bits(header + 32, scales);
  }
  __m512 scale(int g) const {
    const __m512i units =
        _mm512_sub_epi32(_mm512_cvtepu8_epi32(load128(scales + 16 * g)), _mm512_set1_epi32(32));
    return _mm512_mul_ps(d, _mm512_cvtepi32_ps(units));
  }
};

/// Integer scales of half group h of a super-block, as floats: `sub_scale(h)`; for Q2_K the minima
/// of group g as pairs of int16: `sub_minima(g)`.
template <DType type>
struct SubScales;
template <>
struct SubScales<DType::kQ6_K> {
  const std::byte* header;
  explicit SubScales(const std::byte* p) : header(p) {}
  __m512 sub_scale(int h) const { return signed_bytes_at(header + 32 + 16 * h); }
};
template <>
struct SubScales<DType::kQ3_K> {
  alignas(64) uint8_t scales[256];
  explicit SubScales(const std::byte* header) {
    load_six_bits(header + 32, scales);
    load_six_bits(header + 32 + packed::kSixBytes, scales + 128);
  }
  __m512 sub_scale(int h) const {
    const __m512i units =
        _mm512_sub_epi32(_mm512_cvtepu8_epi32(load128(scales + 16 * h)), _mm512_set1_epi32(32));
    return _mm512_cvtepi32_ps(units);
  }
};
template <>
struct SubScales<DType::kQ2_K> {
  const std::byte* header;
  explicit SubScales(const std::byte* p) : header(p) {}
  __m512i bytes(int h) const { return _mm512_cvtepu8_epi32(load128(header + 64 + 16 * h)); }
  __m512 sub_scale(int h) const {
    return _mm512_cvtepi32_ps(_mm512_and_si512(bytes(h), _mm512_set1_epi32(15)));
  }
  __m512i sub_minima(int g) const {
    const __m512i first = _mm512_srli_epi32(bytes(2 * g), 4);
    const __m512i second = _mm512_srli_epi32(bytes(2 * g + 1), 4);
    return _mm512_or_si512(first, _mm512_slli_epi32(second, 16));
  }
};

}  // namespace
}  // namespace tandem::kernels::avx512
