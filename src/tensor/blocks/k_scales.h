#pragma once

#include <cstdint>

#include "tensor/f16.h"

namespace tandem {

/// The eight 6-bit scales and minima that Q4_K and Q5_K keep in twelve bytes (bits high to low):
///
///   bytes 0-3    s[j+4] bits 5-4 | s[j] (6 bits)       j = byte
///   bytes 4-7    m[j+4] bits 5-4 | m[j] (6 bits)       j = byte - 4
///   bytes 8-11   m[j+4] bits 3-0 | s[j+4] bits 3-0     j = byte - 8
TANDEM_ALWAYS_INLINE void unpack_k_scales(const uint8_t packed[12], uint8_t scales[8],
                                          uint8_t minima[8]) {
  for (int j = 0; j < 4; ++j) {
    scales[j] = packed[j] & 63;
    minima[j] = packed[j + 4] & 63;
    scales[j + 4] = static_cast<uint8_t>((packed[j + 8] & 15) | packed[j] >> 6 << 4);
    minima[j + 4] = static_cast<uint8_t>(packed[j + 8] >> 4 | packed[j + 4] >> 6 << 4);
  }
}

/// The inverse; every value is below 64.
TANDEM_ALWAYS_INLINE void pack_k_scales(const uint8_t scales[8], const uint8_t minima[8],
                                        uint8_t packed[12]) {
  for (int j = 0; j < 4; ++j) {
    packed[j] = static_cast<uint8_t>(scales[j] | scales[j + 4] >> 4 << 6);
    packed[j + 4] = static_cast<uint8_t>(minima[j] | minima[j + 4] >> 4 << 6);
    packed[j + 8] = static_cast<uint8_t>((scales[j + 4] & 15) | (minima[j + 4] & 15) << 4);
  }
}

}  // namespace tandem
