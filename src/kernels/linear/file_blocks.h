#pragma once

#include <cstring>

#include "kernels/linear/packed_format.h"

// A file block taken apart into what packing needs: raw codes and the bytes of the packed header.

namespace tandem::kernels::packed {

inline int nibble_at(const uint8_t* qs, int i) { return qs[i % 16] >> (i / 16 * 4) & 15; }

/// Code of element i as the packed planes keep it: never negative, below 2^(low + high bits).
inline int file_code(const BlockQ4_0& b, int i) { return nibble_at(b.qs, i); }
inline int file_code(const BlockQ4_1& b, int i) { return nibble_at(b.qs, i); }
inline int file_code(const BlockIq4Nl& b, int i) { return nibble_at(b.qs, i); }
inline int file_code(const BlockMxfp4& b, int i) { return nibble_at(b.qs, i); }
inline int file_code(const BlockQ5_0& b, int i) {
  return nibble_at(b.qs, i) | (b.qh[i / 8] >> (i % 8) & 1) << 4;
}
inline int file_code(const BlockQ5_1& b, int i) {
  return nibble_at(b.qs, i) | (b.qh[i / 8] >> (i % 8) & 1) << 4;
}
inline int file_code(const BlockQ8_0& b, int i) { return b.qs[i] + 128; }
inline int file_code(const BlockQ2_K& b, int i) { return q2_k_code(b, i); }
inline int file_code(const BlockQ3_K& b, int i) { return q3_k_code(b, i) + 4; }
inline int file_code(const BlockQ4_K& b, int i) { return q4_k_code(b, i); }
inline int file_code(const BlockQ5_K& b, int i) { return q5_k_code(b, i); }
inline int file_code(const BlockQ6_K& b, int i) { return q6_k_code(b, i) + 32; }
inline int file_code(const BlockIq4Xs& b, int i) { return iq4_xs_code(b, i); }

inline void put_u16(std::byte* header, int row, uint16_t value) {
  std::memcpy(header + 2 * row, &value, sizeof value);
}

/// Blocks that have a scale `d` and nothing else.
template <class Block>
void put_header(const Block& b, int row, std::byte* header) {
  put_u16(header, row, b.d);
}
inline void put_header(const BlockMxfp4& b, int row, std::byte* header) {
  header[row] = static_cast<std::byte>(b.e);
}
inline void put_header(const BlockQ4_1& b, int row, std::byte* header) {
  put_u16(header, row, b.d);
  put_u16(header + 32, row, b.m);
}
inline void put_header(const BlockQ5_1& b, int row, std::byte* header) {
  put_u16(header, row, b.d);
  put_u16(header + 32, row, b.m);
}
/// Q4_K and Q5_K.
template <class Block>
void put_scales_minima(const Block& b, int row, std::byte* header) {
  uint8_t scales[8], minima[8];
  unpack_k_scales(b.scales, scales, minima);
  put_u16(header, row, b.d);
  put_u16(header + 32, row, b.dmin);
  for (int j = 0; j < 8; ++j) {
    put_six_bits(header + 64, j, row, scales[j]);
    put_six_bits(header + 64 + kSixBytes, j, row, minima[j]);
  }
}
inline void put_header(const BlockQ4_K& b, int row, std::byte* header) {
  put_scales_minima(b, row, header);
}
inline void put_header(const BlockQ5_K& b, int row, std::byte* header) {
  put_scales_minima(b, row, header);
}
inline void put_header(const BlockIq4Xs& b, int row, std::byte* header) {
  int8_t scales[8];
  unpack_iq4_xs_scales(b, scales);
  put_u16(header, row, b.d);
  for (int j = 0; j < 8; ++j) put_six_bits(header + 32, j, row, scales[j] + 32);
}
inline void put_header(const BlockQ6_K& b, int row, std::byte* header) {
  put_u16(header, row, b.d);
  for (int h = 0; h < 16; ++h) header[32 + 16 * h + row] = static_cast<std::byte>(b.scales[h]);
}
inline void put_header(const BlockQ3_K& b, int row, std::byte* header) {
  int8_t scales[16];
  unpack_q3_k_scales(b.scales, scales);
  put_u16(header, row, b.d);
  for (int h = 0; h < 16; ++h) {
    put_six_bits(header + 32 + kSixBytes * (h / 8), h % 8, row, scales[h] + 32);
  }
}
inline void put_header(const BlockQ2_K& b, int row, std::byte* header) {
  put_u16(header, row, b.d);
  put_u16(header + 32, row, b.dmin);
  for (int h = 0; h < 16; ++h) header[64 + 16 * h + row] = static_cast<std::byte>(b.scales[h]);
}

}  // namespace tandem::kernels::packed
