// The AVX2 row of Q4_24: a byte shuffle brings each lane the activations of the weights that were
// kept, so that half the products are never formed.

#include "kernels/linear/pruned_format.h"
#include "kernels/linear/x86_avx2_linear-inl.h"

namespace tandem::kernels {
namespace avx2 {
namespace {

using packed::Pruned;

/// A group's weights of eight rows.
struct KeptWeights {
  __m256i values[4];  ///< signed, four bytes a lane
  __m256i places[4];  ///< bytes of the 16 activations that they meet

  KeptWeights(const std::byte* block, int half) {
    const __m256i nibble = _mm256_set1_epi8(15), two_bits = _mm256_set1_epi8(3);
    const __m256i all_places = load256(block + Pruned::kPlaces + 32 * half);
    repeat<4>([&]<int p>() TANDEM_INLINE_LAMBDA {
      const __m256i codes =
          load256(block + Pruned::kHeaderBytes + p % 2 * packed::kQuadBytes + 32 * half);
      const __m256i code = _mm256_and_si256(moved<p / 2 * 4, 0>(codes), nibble);
      values[p] = _mm256_sub_epi8(code, _mm256_set1_epi8(Pruned::kOffset));
      // Bytes 0 and 1 of a lane choose from the first four of eight elements, 2 and 3 from the
      // rest.
      const __m256i first = _mm256_set1_epi32(0x04040000 + p % 2 * 0x08080808);
      places[p] = _mm256_or_si256(_mm256_and_si256(moved<2 * p, 0>(all_places), two_bits), first);
    });
  }

  /// Exact: four pairs of products, each at most 2 * 8 * 127, fit int16.
  __m256i dot(const int8_t* x) const {
    const __m256i halves[2] = {_mm256_broadcastsi128_si256(load128(x)),
                               _mm256_broadcastsi128_si256(load128(x + 16))};
    __m256i sum = _mm256_setzero_si256();
    repeat<4>([&]<int p>() TANDEM_INLINE_LAMBDA {
      const __m256i met = _mm256_shuffle_epi8(halves[p / 2], places[p]);
      sum = _mm256_add_epi16(
          sum, _mm256_maddubs_epi16(_mm256_abs_epi8(values[p]), _mm256_sign_epi8(met, values[p])));
    });
    return _mm256_madd_epi16(sum, _mm256_set1_epi16(1));
  }
};

/// HOT: linear_bench.
void pruned_tile(const LinearArgs& a, const TileJob& job) {
  const size_t n_groups = a.w.k / kActivationGroup;
  const float* x_scales = a.xq.scales + job.m * n_groups;
  const int8_t* x = a.xq.codes + job.m * a.w.k;
  const std::byte* block = job.tile;
  Tile tile;
  set_zero(tile.acc, job.n_rows);
  for (size_t g = 0; g < n_groups; ++g, block += Pruned::kBlockBytes, x += kActivationGroup) {
    prefetch(block, Pruned::kBlockBytes);
    for (int half = 0; half < 2; ++half) {
      const KeptWeights w(block, half);
      const __m256 scale = halves_at(block + 16 * half);
      for (int r = 0; r < job.n_rows; ++r) {
        __m256& acc = tile.acc[r][half];
        const __m256 both = _mm256_mul_ps(scale, _mm256_set1_ps(x_scales[r * n_groups + g]));
        const __m256 sum = _mm256_cvtepi32_ps(w.dot(x + r * a.w.k));
        acc = _mm256_fmadd_ps(sum, both, acc);
      }
    }
  }
  store_outputs(a, job, tile);
}

}  // namespace
}  // namespace avx2

void linear_q4_24_i8_16_avx2(const LinearArgs& a) noexcept {
  const size_t tile_bytes = a.w.k / packed::Pruned::kElements * packed::Pruned::kBlockBytes;
  for_each_tile<avx2::kMaxRows>(a, tile_bytes, a.w.k, [&](const TileJob& job) TANDEM_INLINE_LAMBDA {
    avx2::pruned_tile(a, job);
  });
}

}  // namespace tandem::kernels
