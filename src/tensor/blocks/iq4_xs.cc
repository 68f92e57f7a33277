#include "tensor/blocks/iq4_xs.h"

#include "tensor/blocks/fit.h"
#include "tensor/blocks/super_block.h"

namespace tandem {

void encode(const float* in, BlockIq4Xs& out) {
  uint8_t codes[32];
  float fitted[8];
  for (int sub = 0; sub < 8; ++sub) {
    fitted[sub] = blocks::fit_table(in + 32 * sub, 32, kIq4Values, codes);
  }
  int8_t scales[8];
  out = {};
  out.d = blocks::round_scales(fitted, 8, 32, scales);
  pack_iq4_xs_scales(scales, out);
  for (int i = 0; i < 256; ++i) {
    const float scale = f16_to_f32(out.d) * static_cast<float>(scales[i / 32]);
    const uint8_t code =
        blocks::nearest_in_table(in[i] * blocks::inverse_or_zero(scale), kIq4Values);
    out.qs[i / 32 * 16 + i % 16] |= static_cast<uint8_t>(code << (i / 16 % 2 * 4));
  }
}

}  // namespace tandem
