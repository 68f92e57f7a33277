// AVX-512 VNNI row of nested weights: high and low nibbles make whole unsigned codes in registers,
// so that everything behind them is Q8_0's arithmetic.

#include "kernels/linear/nested.h"
#include "kernels/linear/nested_format.h"
#include "kernels/linear/x86_avx512_linear-inl.h"
#include "kernels/linear/x86_avx512_many-inl.h"
#include "kernels/linear/x86_avx512_nested_weights-inl.h"

namespace tandem::kernels {
namespace avx512 {
namespace {

/// Asks for the bytes ahead of both planes. Each is half of what a group takes, so half of the
/// distance of other formats (x86_avx512_linear-inl.h) is the same time.
template <int n_rows>
[[gnu::always_inline]] inline void prefetch_plane(const std::byte* p, size_t n_bytes) {
  const char* far = reinterpret_cast<const char*>(p) + kFarBytes<n_rows> / 2;
  const char* near = reinterpret_cast<const char*>(p) + kNearBytes / 2;
  for (size_t i = 0; i < n_bytes; i += 64) {
    if constexpr (kTwoSteps<High, n_rows>) {
      _mm_prefetch(far + i, _MM_HINT_T1);
      _mm_prefetch(near + i, _MM_HINT_T0);
    } else {
      _mm_prefetch(far + i, _MM_HINT_T0);
    }
  }
}

/// HOT: linear_bench.
template <int shift, int n_rows>
void nested_tile(const LinearArgs& a, const TileJob& job) {
  const Input<n_rows> x(a, job.m);
  const std::byte* block = job.tile;
  const std::byte* low = a.w.low + job.n / kTileRows * packed::low_tile_bytes(a.w.k);
  const int8_t* x_codes = x.codes;
  const __m512 unit = _mm512_set1_ps(packed::kNestedUnit<shift>);
  __m512 acc[n_rows];
  repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA { acc[r] = _mm512_setzero_ps(); });

  for (size_t first = 0; first < x.n_groups; first += kChunk) {
    const size_t left = x.n_groups - first;
    const int n = left < kChunk ? static_cast<int>(left) : kChunk;
    alignas(64) int32_t start[n_rows][kChunk];
    alignas(64) float x_scale[n_rows][kChunk];
    for (int r = 0; r < n_rows; ++r) {
      const __m256i sums = x.sums_at(r, first, first8(n));
      _mm256_store_ps(x_scale[r], x.scales_at(r, first, first8(n)));
      _mm256_store_si256(reinterpret_cast<__m256i*>(start[r]),
                         _mm256_madd_epi16(sums, _mm256_set1_epi16(-kNestedOffset<shift>)));
    }
    for (int g = 0; g < n; ++g) {
      __m512i q[8];
      load_nested<shift>(block + High::kHeaderBytes, low, q);
      const __m512 scale = _mm512_mul_ps(halves_at(block), unit);
      repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
        const int8_t* codes = x_codes + r * x.k;
        __m512i sum = _mm512_set1_epi32(start[r][g]);
        repeat<8>([&]<int i>() TANDEM_INLINE_LAMBDA { sum = dot4(sum, q[i], codes + 4 * i); });
        acc[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum),
                                 _mm512_mul_ps(scale, _mm512_set1_ps(x_scale[r][g])), acc[r]);
      });
      prefetch_plane<n_rows>(block, High::kBlockBytes);
      prefetch_plane<n_rows>(low, packed::kLowGroupBytes);
      block += High::kBlockBytes;
      low += packed::kLowGroupBytes;
      x_codes += kActivationGroup;
    }
  }
  store_outputs<n_rows>(a, job, acc);
}

template <int shift>
void linear_nested(const LinearArgs& a) {
  using TileFn = void (*)(const LinearArgs&, const TileJob&);
  static constexpr TileFn kTiles[kMaxRows] = {
      nested_tile<shift, 1>, nested_tile<shift, 2>, nested_tile<shift, 3>, nested_tile<shift, 4>,
      nested_tile<shift, 5>, nested_tile<shift, 6>, nested_tile<shift, 7>, nested_tile<shift, 8>};
  const size_t tile_bytes = a.w.k / packed::kGroup * High::kBlockBytes;
  for_each_tile<kMaxRows>(a, tile_bytes, a.w.k, [&](const TileJob& job) TANDEM_INLINE_LAMBDA {
    kTiles[job.n_rows - 1](a, job);
  });
}

}  // namespace
}  // namespace avx512

void linear_nested_i8_16_avx512_vnni(const LinearArgs& a) noexcept {
  using namespace avx512;
  a.w.low_shift == 4
      ? linear_many<ManyKernel<WidenedNested<4, CodeForm::kUnsigned>>>(a, linear_nested<4>)
      : linear_many<ManyKernel<WidenedNested<3, CodeForm::kUnsigned>>>(a, linear_nested<3>);
}

}  // namespace tandem::kernels
