// The AVX-512 VNNI row of Q4_24: a byte shuffle brings each lane the activations of the weights
// that were kept, so that half the products are never formed.

#include "kernels/linear/pruned_format.h"
#include "kernels/linear/x86_avx512_linear-inl.h"

namespace tandem::kernels {
namespace avx512 {
namespace {

using packed::Pruned;

/// What a group's weights are for every row of activations: lane = output.
struct KeptWeights {
  __m512i values[4];  ///< signed, four bytes a lane
  __m512i places[4];  ///< bytes of the 16 activations that they meet
  __m512i start;      ///< takes off what unsigned activations add

  explicit KeptWeights(const std::byte* block) {
    const __m512i nibble = _mm512_set1_epi8(15), two_bits = _mm512_set1_epi8(3);
    const __m512i offset = _mm512_set1_epi8(Pruned::kOffset);
    const __m512i all_places = load512(block + Pruned::kPlaces);
    __m512i sum = _mm512_setzero_si512();
    repeat<4>([&]<int p>() TANDEM_INLINE_LAMBDA {
      const __m512i codes = load512(block + Pruned::kHeaderBytes + p % 2 * packed::kQuadBytes);
      const __m512i code = _mm512_and_si512(moved<p / 2 * 4, 0>(codes), nibble);
      values[p] = _mm512_sub_epi8(code, offset);
      sum = _mm512_dpbusd_epi32(sum, _mm512_set1_epi8(static_cast<char>(0x80)), values[p]);
      // Bytes 0 and 1 of a lane choose from the first four of eight elements, 2 and 3 from the
      // rest.
      const __m512i first = _mm512_set1_epi32(0x04040000 + p % 2 * 0x08080808);
      places[p] = _mm512_or_si512(_mm512_and_si512(moved<2 * p, 0>(all_places), two_bits), first);
    });
    start = _mm512_sub_epi32(_mm512_setzero_si512(), sum);
  }
};

/// Sixteen activation codes in every 128 bits, 128 added to each.
[[gnu::always_inline]] inline __m512i unsigned_codes(const int8_t* x) {
  return _mm512_xor_si512(_mm512_broadcast_i32x4(load128(x)),
                          _mm512_set1_epi8(static_cast<char>(0x80)));
}

struct Q4_24Prefetch {  ///< for `prefetch`: as Q4_0
  static constexpr int kHighBits = 0;
};

/// HOT: linear_bench.
template <int n_rows>
void pruned_tile(const LinearArgs& a, const TileJob& job) {
  const Input<n_rows> x(a, job.m);
  const std::byte* block = job.tile;
  const int8_t* x_codes = x.codes;
  __m512 acc[n_rows];
  repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA { acc[r] = _mm512_setzero_ps(); });
  for (size_t g = 0; g < x.n_groups; ++g, x_codes += kActivationGroup) {
    prefetch<Q4_24Prefetch, n_rows>(block, Pruned::kBlockBytes);
    const KeptWeights w(block);
    const __m512 scale = halves_at(block);
    repeat<n_rows>([&]<int r>() TANDEM_INLINE_LAMBDA {
      const int8_t* codes = x_codes + r * x.k;
      const __m512i halves[2] = {unsigned_codes(codes), unsigned_codes(codes + 16)};
      __m512i sum = w.start;
      repeat<4>([&]<int p>() TANDEM_INLINE_LAMBDA {
        sum =
            _mm512_dpbusd_epi32(sum, _mm512_shuffle_epi8(halves[p / 2], w.places[p]), w.values[p]);
      });
      const __m512 x_scale = _mm512_set1_ps(x.scales[r * x.n_groups + g]);
      acc[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), _mm512_mul_ps(scale, x_scale), acc[r]);
    });
    block += Pruned::kBlockBytes;
  }
  store_outputs<n_rows>(a, job, acc);
}

}  // namespace
}  // namespace avx512

void linear_q4_24_i8_16_avx512_vnni(const LinearArgs& a) noexcept {
  using TileFn = void (*)(const LinearArgs&, const TileJob&);
  static constexpr TileFn kTiles[avx512::kMaxRows] = {
      avx512::pruned_tile<1>, avx512::pruned_tile<2>, avx512::pruned_tile<3>,
      avx512::pruned_tile<4>, avx512::pruned_tile<5>, avx512::pruned_tile<6>,
      avx512::pruned_tile<7>, avx512::pruned_tile<8>};
  const size_t tile_bytes = a.w.k / packed::Pruned::kElements * packed::Pruned::kBlockBytes;
  for_each_tile<avx512::kMaxRows>(a, tile_bytes, a.w.k,
                                  [&](const TileJob& job)
                                      TANDEM_INLINE_LAMBDA { kTiles[job.n_rows - 1](a, job); });
}

}  // namespace tandem::kernels
