// The AVX512_BF16 row of BF16 weights: activations rounded to bf16, two products an instruction.

#include <immintrin.h>

#include "kernels/linear/float-inl.h"
#include "kernels/linear/x86_bf16_pairs-inl.h"
#include "kernels/simd/f32x16_avx512.h"

namespace tandem::kernels {
namespace avx512_bf16 {
namespace {

using avx512::F32x16;

constexpr int kTiles = 2, kMaxRows = 8;

/// Tiles are (k / 2, 16, 2), so a load is the operand of a dot product.
struct PairedWeights {
  static constexpr int kStep = 2;
  static constexpr size_t kElementBytes = 2;
  using Loaded = __m512bh;
  static void load(const std::byte* p, Loaded& w) { w = (__m512bh)_mm512_loadu_si512(p); }

  using Input = uint32_t;  ///< two elements along K, the first in the lower half
  static constexpr int kElementsPerInput = 2;
  /// The last pair of an odd K has a zero, so that it too counts as a whole step.
  template <int>
  static F32x16 add(const Loaded& w, const uint32_t* x, F32x16 acc) {
    const __m512i pair = _mm512_set1_epi32(static_cast<int>(*x));
    return {_mm512_dpbf16_ps(acc.v, w, (__m512bh)pair)};
  }

  struct Room {
    alignas(64) uint32_t pairs[kFloatRows * kFloatDepth / 2];
  };
  static size_t deepest(size_t k) {
    constexpr size_t kDeepest = kFloatRows * kFloatDepth / kMaxRows;
    return k < kDeepest ? k : kDeepest;
  }
  static InputBlock<uint32_t> read(const LinearArgs& a, size_t k_begin, size_t k_end, Room& room) {
    const size_t row_pairs =
        (k_end - k_begin + kElementsAtOnce - 1) / kElementsAtOnce * kElementsAtOnce / 2;
    for (size_t m = 0; m < a.m; ++m) {
      round_to_bf16(input_at(a, m) + k_begin, k_end - k_begin, room.pairs + m * row_pairs);
    }
    return {room.pairs, row_pairs * sizeof(uint32_t)};
  }
};
}  // namespace
}  // namespace avx512_bf16

void linear_bf16_bf16_16_avx512_bf16(const LinearArgs& a) noexcept {
  linear_float<avx512::F32x16, avx512_bf16::PairedWeights, avx512_bf16::kTiles,
               avx512_bf16::kMaxRows>(a);
}

}  // namespace tandem::kernels
