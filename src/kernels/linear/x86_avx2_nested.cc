// AVX2 row of nested weights: whole codes would need eight bits, whose products AVX2 can only widen
// one by one; the two nibbles are summed apart, eight products before widening, and joined by a
// shift.

#include "kernels/linear/nested.h"
#include "kernels/linear/nested_format.h"
#include "kernels/linear/x86_avx2_linear-inl.h"
#include "kernels/linear/x86_avx2_many-inl.h"

namespace tandem::kernels {
namespace avx2 {
namespace {

using packed::High;

/// Adds one group of half a tile for all rows of the job.
template <int shift>
[[gnu::always_inline]] inline void add_nested_group(const TileJob& job, const std::byte* block,
                                                    const std::byte* low, int half, const int8_t* x,
                                                    size_t k, int g, Tile& tile) {
  __m256i high_sums[kMaxRows];
  __m256i q[8];
  load_codes<High>(block + High::kHeaderBytes, half, q);
  for (int r = 0; r < job.n_rows; ++r) {
    high_sums[r] = _mm256_slli_epi32(dot<High, 0, 8>(q, x + r * k), shift);
  }
  load_codes<High>(low, half, q);
  const __m256 unit = _mm256_set1_ps(packed::kNestedUnit<shift>);
  const __m256 scale = _mm256_mul_ps(halves_at(block + 16 * half), unit);
  const __m256i minus_offset = _mm256_set1_epi16(-packed::kNestedOffset<shift>);
  for (int r = 0; r < job.n_rows; ++r) {
    const __m256i start = _mm256_madd_epi16(_mm256_set1_epi32(tile.x_sums[r][g]), minus_offset);
    const __m256i both_planes = _mm256_add_epi32(dot<High, 0, 8>(q, x + r * k), high_sums[r]);
    const __m256i sum = _mm256_add_epi32(both_planes, start);
    const __m256 both = _mm256_mul_ps(scale, _mm256_set1_ps(tile.x_scale[r][g]));
    tile.acc[r][half] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), both, tile.acc[r][half]);
  }
}

/// HOT: linear_bench.
template <int shift, bool one_row>
void nested_tile(const LinearArgs& a, TileJob job) {
  if (one_row) job.n_rows = 1;
  const size_t n_groups = a.w.k / kActivationGroup;
  const std::byte* block = job.tile;
  const std::byte* low = a.w.low + job.n / kTileRows * packed::low_tile_bytes(a.w.k);
  const int8_t* x = a.xq.codes + job.m * a.w.k;
  Tile tile;
  set_zero(tile.acc, job.n_rows);
  for (size_t first = 0; first < n_groups; first += kChunk) {
    const int n = n_groups - first < kChunk ? static_cast<int>(n_groups - first) : kChunk;
    load_chunk(a, job, first, n, tile);
    for (int g = 0; g < n; ++g) {
      add_nested_group<shift>(job, block, low, 0, x, a.w.k, g, tile);
      add_nested_group<shift>(job, block, low, 1, x, a.w.k, g, tile);
      prefetch(block, High::kBlockBytes);
      prefetch(low, packed::kLowGroupBytes);
      block += High::kBlockBytes;
      low += packed::kLowGroupBytes;
      x += kActivationGroup;
    }
  }
  store_outputs(a, job, tile);
}

template <int shift, bool one_row>
[[gnu::always_inline]] inline void for_nested_tiles(const LinearArgs& a) {
  const size_t tile_bytes = a.w.k / packed::kGroup * High::kBlockBytes;
  for_each_tile<kMaxRows>(a, tile_bytes, a.w.k, [&](const TileJob& job) TANDEM_INLINE_LAMBDA {
    nested_tile<shift, one_row>(a, job);
  });
}
template <int shift>
void linear_nested(const LinearArgs& a) {
  a.m == 1 ? for_nested_tiles<shift, true>(a) : for_nested_tiles<shift, false>(a);
}

}  // namespace
}  // namespace avx2

void linear_nested_i8_16_avx2(const LinearArgs& a) noexcept {
  using namespace avx2;
  a.w.low_shift == 4 ? linear_many<ManyKernel<WidenedNested<4>>>(a, linear_nested<4>)
                     : linear_many<ManyKernel<WidenedNested<3>>>(a, linear_nested<3>);
}

}  // namespace tandem::kernels
