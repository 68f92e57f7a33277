#include "tensor/blocks/q3_k.h"

#include "tensor/blocks/super_block.h"

namespace tandem {

void encode(const float* in, BlockQ3_K& out) {
  const blocks::ScaledSuperBlock fit =
      blocks::fit_super_block(in, 16, 32, blocks::IntegerCodes{-4, 3});
  out = {};
  out.d = fit.d;
  pack_q3_k_scales(fit.scales, out.scales);
  for (int i = 0; i < 256; ++i) {
    const int code = fit.codes[i] + 4;
    out.qs[i / 128 * 32 + i % 32] |= static_cast<uint8_t>((code & 3) << (i / 32 % 4 * 2));
    out.hmask[i % 32] |= static_cast<uint8_t>(code >> 2 << (i / 32));
  }
}

}  // namespace tandem
