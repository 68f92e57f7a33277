#include "tensor/blocks/iq4_nl.h"

#include "tensor/blocks/fit.h"

namespace tandem {

void encode(const float* in, BlockIq4Nl& out) {
  int8_t codes[32];
  out.d = f32_to_f16(
      blocks::fit_scale(in, 32, blocks::TableCodes{kIq4Values, kIq4Middles.data()}, codes));
  for (int i = 0; i < 16; ++i) out.qs[i] = static_cast<uint8_t>(codes[i] | codes[i + 16] << 4);
}

}  // namespace tandem
