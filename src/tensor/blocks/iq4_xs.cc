#include "tensor/blocks/iq4_xs.h"

#include "tensor/blocks/super_block.h"

namespace tandem {

void encode(const float* in, BlockIq4Xs& out) {
  const blocks::ScaledSuperBlock fit =
      blocks::fit_super_block(in, 8, 32, blocks::TableCodes{kIq4Values, kIq4Middles.data()});
  out = {};
  out.d = fit.d;
  pack_iq4_xs_scales(fit.scales, out);
  for (int i = 0; i < 256; ++i) {
    out.qs[i / 32 * 16 + i % 16] |= static_cast<uint8_t>(fit.codes[i] << (i / 16 % 2 * 4));
  }
}

}  // namespace tandem
