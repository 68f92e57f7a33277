#pragma once

#include <cstdint>

#include "tensor/blocks/fit.h"

// How the encoders of 256-element formats divide a block: fit each sub-block, then search the
// block's own f16 scale and the sub-blocks' few-bit scales under it for the least squared error.

namespace tandem::blocks {

inline constexpr int kSuperBlock = 256;
inline constexpr int kMaxSubBlocks = 16;

/// x[i] ~ (d * scales[i / n]) * value(codes[i]), n = 256 / n_sub.
struct ScaledSuperBlock {
  uint16_t d;  ///< f16
  int8_t scales[kMaxSubBlocks];
  int8_t codes[kSuperBlock];
};
/// Scales in [-scale_magnitude, scale_magnitude); n_sub is 8 or 16.
ScaledSuperBlock fit_super_block(const float* in, int n_sub, int scale_magnitude,
                                 IntegerCodes format);
ScaledSuperBlock fit_super_block(const float* in, int n_sub, int scale_magnitude,
                                 TableCodes format);

/// x[i] ~ (d * scales[i / n]) * codes[i] - dmin * minima[i / n], n = 256 / n_sub.
struct AffineSuperBlock {
  uint16_t d;     ///< f16
  uint16_t dmin;  ///< f16
  uint8_t scales[kMaxSubBlocks];
  uint8_t minima[kMaxSubBlocks];
  uint8_t codes[kSuperBlock];
};
/// Scales and minima in [0, high_scale], codes in [0, high_code]; n_sub is 8 or 16.
AffineSuperBlock fit_affine_super_block(const float* in, int n_sub, int high_scale, int high_code);

}  // namespace tandem::blocks
