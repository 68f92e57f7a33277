#include "tensor/blocks/q2_k.h"

#include "tensor/blocks/super_block.h"

namespace tandem {

void encode(const float* in, BlockQ2_K& out) {
  const blocks::AffineSuperBlock fit = blocks::fit_affine_super_block(in, 16, 15, 3);
  out = {};
  out.d = fit.d;
  out.dmin = fit.dmin;
  for (int sub = 0; sub < 16; ++sub) {
    out.scales[sub] = static_cast<uint8_t>(fit.scales[sub] | fit.minima[sub] << 4);
  }
  for (int i = 0; i < 256; ++i) {
    out.qs[i / 128 * 32 + i % 32] |= static_cast<uint8_t>(fit.codes[i] << (i / 32 % 4 * 2));
  }
}

}  // namespace tandem
