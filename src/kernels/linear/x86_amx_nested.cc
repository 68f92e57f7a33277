// AMX row of nested weights: both planes become signed bytes once for all tokens of a call.

#include "kernels/linear/nested.h"
#include "kernels/linear/x86_amx_linear-inl.h"
#include "kernels/linear/x86_avx512_nested_weights-inl.h"

namespace tandem::kernels {
namespace avx512_amx {
namespace {

using packed::High;

template <int shift>
struct WidenedNested {
  static constexpr bool kHalves = false;
  static constexpr bool kMinimum = false;
  static constexpr int kBlockGroups = 1;
  static constexpr int kParts = 1;
  static constexpr int kTilesTogether = 4;

  alignas(64) int8_t codes[kDepth][kParts][kGroupCodes];
  alignas(64) float scale[kDepth][kParts][kTileRows];
  int32_t minimum[1][kTileRows];
  float block_scale[1][2][kTileRows];
  const std::byte* next_high;
  const std::byte* next_low;

  void widen(const LinearArgs& a, size_t n, size_t first, int n_groups) {
    const size_t tile = n / kTileRows, all_groups = a.w.k / packed::kGroup;
    const std::byte* high = a.w.data + (tile * all_groups + first) * High::kBlockBytes;
    const std::byte* low =
        a.w.low + tile * packed::low_tile_bytes(a.w.k) + first * packed::kLowGroupBytes;
    const __m512i offset = _mm512_set1_epi8(static_cast<char>(packed::kNestedOffset<shift>));
    const __m512 unit = _mm512_set1_ps(packed::kNestedUnit<shift>);
    for (int g = 0; g < n_groups; ++g) {
      __m512i q[8];
      avx512::load_nested<shift>(high + High::kHeaderBytes, low, q);
      repeat<8>([&]<int i>() TANDEM_INLINE_LAMBDA {
        _mm512_store_si512(codes[g][0] + i * kRowBytes, _mm512_sub_epi8(q[i], offset));
      });
      _mm512_store_ps(scale[g][0], _mm512_mul_ps(avx512::halves_at(high), unit));
      high += High::kBlockBytes;
      low += packed::kLowGroupBytes;
    }
    next_high = high;
    next_low = low;
  }
  void prefetch_next(int n_groups) const {
    prefetch_bytes(next_high, n_groups * High::kBlockBytes);
    prefetch_bytes(next_low, n_groups * packed::kLowGroupBytes);
  }
};

}  // namespace
}  // namespace avx512_amx

void linear_nested_i8_16_amx(const LinearArgs& a) noexcept {
  using avx512_amx::WidenedNested;
  a.w.low_shift == 4
      ? avx512_amx::linear_tiles<WidenedNested<4>>(a, linear_nested_i8_16_avx512_vnni)
      : avx512_amx::linear_tiles<WidenedNested<3>>(a, linear_nested_i8_16_avx512_vnni);
}

}  // namespace tandem::kernels
