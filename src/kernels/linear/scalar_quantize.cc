// Activation quantization, portable.

#include <bit>
#include <cmath>

#include "kernels/linear/linear_kernels.h"
#include "kernels/linear/quantize-inl.h"
#include "kernels/simd/f32x16_scalar.h"

namespace tandem::kernels {
namespace scalar {

struct Codes {
  int lane[16];

  static uint32_t largest_magnitude(const F32x16& low, const F32x16& high) {
    uint32_t largest = 0;
    for (const F32x16* half : {&low, &high}) {
      for (float x : half->lane) {
        const uint32_t magnitude = std::bit_cast<uint32_t>(x) & 0x7fffffffu;
        if (magnitude > largest) largest = magnitude;
      }
    }
    return largest;
  }
  static Codes round(const F32x16& x) {
    Codes out;
    for (int i = 0; i < 16; ++i) out.lane[i] = static_cast<int>(std::nearbyintf(x.lane[i]));
    return out;
  }
  static int sum(const Codes& q) {
    int total = 0;
    for (int code : q.lane) total += code;
    return total;
  }
  static void store(int8_t* out, const Codes& low, const Codes& high) {
    for (int i = 0; i < 16; ++i) {
      out[i] = static_cast<int8_t>(low.lane[i]);
      out[i + 16] = static_cast<int8_t>(high.lane[i]);
    }
  }
};

}  // namespace scalar

void quantize_f32_i8_scalar(const QuantizeArgs& args) noexcept {
  quantize_rows_of<scalar::F32x16, scalar::Codes>(args);
}

}  // namespace tandem::kernels
