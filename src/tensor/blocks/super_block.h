#pragma once

#include <cstdint>

// How the encoders of 256-element formats divide a block: fit each sub-block, round the sub-blocks'
// scales to the few bits they get under the block's own scale, then choose codes against those.

namespace tandem::blocks {

inline constexpr int kSuperBlock = 256;

/// x[i] ~ (d * scales[i / n]) * codes[i] - dmin * minima[i / n], n = 256 / n_sub.
struct AffineSuperBlock {
  uint16_t d;     ///< f16
  uint16_t dmin;  ///< f16
  uint8_t scales[16];
  uint8_t minima[16];
  uint8_t codes[kSuperBlock];
};
/// Scales and minima in [0, high_scale], codes in [0, high_code]; n_sub is 8 or 16.
AffineSuperBlock fit_affine_super_block(const float* in, int n_sub, int high_scale, int high_code);

/// x[i] ~ (d * scales[i / 16]) * codes[i].
struct SymmetricSuperBlock {
  uint16_t d;  ///< f16
  int8_t scales[16];
  int8_t codes[kSuperBlock];
};
/// Scales in [-scale_magnitude, scale_magnitude), codes in [-code_magnitude, code_magnitude).
SymmetricSuperBlock fit_symmetric_super_block(const float* in, int scale_magnitude,
                                              int code_magnitude);

/// Rounds `n` signed scales to [-magnitude, magnitude) times a common f16 scale, which is returned;
/// the largest becomes exactly -magnitude.
uint16_t round_scales(const float* scales, int n, int magnitude, int8_t* rounded);

}  // namespace tandem::blocks
