#include "tensor/blocks/q5_k.h"

#include "tensor/blocks/super_block.h"

namespace tandem {

void encode(const float* in, BlockQ5_K& out) {
  const blocks::AffineSuperBlock fit = blocks::fit_affine_super_block(in, 8, 63, 31);
  out = {};
  out.d = fit.d;
  out.dmin = fit.dmin;
  pack_k_scales(fit.scales, fit.minima, out.scales);
  for (int i = 0; i < 256; ++i) {
    out.qs[i / 64 * 32 + i % 32] |= static_cast<uint8_t>((fit.codes[i] & 15) << (i / 32 % 2 * 4));
    out.qh[i % 32] |= static_cast<uint8_t>(fit.codes[i] >> 4 << (i / 32));
  }
}

}  // namespace tandem
