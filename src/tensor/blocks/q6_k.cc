#include "tensor/blocks/q6_k.h"

#include "tensor/blocks/super_block.h"

namespace tandem {

void encode(const float* in, BlockQ6_K& out) {
  const blocks::ScaledSuperBlock fit =
      blocks::fit_super_block(in, 16, 128, blocks::IntegerCodes{-32, 31});
  out = {};
  out.d = fit.d;
  for (int sub = 0; sub < 16; ++sub) out.scales[sub] = fit.scales[sub];
  for (int i = 0; i < 256; ++i) {
    const int code = fit.codes[i] + 32;
    const int half = i / 128, quarter = i / 32 % 4, lane = i % 32;
    out.ql[64 * half + 32 * (quarter % 2) + lane] |=
        static_cast<uint8_t>((code & 15) << (quarter / 2 * 4));
    out.qh[32 * half + lane] |= static_cast<uint8_t>(code >> 4 << (2 * quarter));
  }
}

}  // namespace tandem
