// Activation quantization, portable.

#include <algorithm>
#include <bit>
#include <iterator>

#include "kernels/linear/linear_kernels.h"
#include "kernels/linear/quantize-inl.h"
#include "kernels/simd/f32x16_scalar.h"

namespace tandem::kernels {
namespace scalar {

struct QuantizeOps {
  static F32x16 largest_magnitudes(const F32x16 (&low)[kBatch], const F32x16 (&high)[kBatch]) {
    F32x16 out;
    for (int g = 0; g < kBatch; ++g) {
      uint32_t largest = 0;
      for (const F32x16* half : {&low[g], &high[g]}) {
        for (float x : half->lane) {
          largest = std::max(largest, std::bit_cast<uint32_t>(x) & 0x7fffffffu);
        }
      }
      out.lane[g] = std::bit_cast<float>(largest);
    }
    return out;
  }
  static bool any_outside(const F32x16& x, uint32_t low, uint32_t high) {
    return std::any_of(std::begin(x.lane), std::end(x.lane), [&](float lane) {
      const uint32_t bits = std::bit_cast<uint32_t>(lane);
      return bits < low || bits >= high;
    });
  }
  static F32x16 reduce_add_each(const F32x16 (&x)[kBatch]) {
    F32x16 out;
    for (int g = 0; g < kBatch; ++g) out.lane[g] = F32x16::reduce_add(x[g]);
    return out;
  }
  static void store_sums(int16_t* out, const F32x16& first, const F32x16& second) {
    for (int g = 0; g < kBatch; ++g) {
      out[2 * g] = static_cast<int16_t>(first.lane[g]);
      out[2 * g + 1] = static_cast<int16_t>(second.lane[g]);
    }
  }
  static void store_codes(int8_t* out, const F32x16& low, const F32x16& high) {
    for (int i = 0; i < 16; ++i) {
      out[i] = static_cast<int8_t>(low.lane[i]);
      out[i + 16] = static_cast<int8_t>(high.lane[i]);
    }
  }
};

}  // namespace scalar

void quantize_f32_i8_scalar(const QuantizeArgs& args) noexcept {
  quantize_rows_of<scalar::F32x16, scalar::QuantizeOps>(args);
}

}  // namespace tandem::kernels
