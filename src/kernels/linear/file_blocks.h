#pragma once

#include <cstring>

#include "kernels/linear/packed_format.h"

// A file block taken apart into what packing needs. `group_words(block, g, words)` gives the bits
// of group g plane by plane, low bits first: word v of a plane of b bits holds quads v, v + b, ...
// in rising bit fields of each of its four bytes. `put_header` writes the block's scales.

namespace tandem::kernels::packed {

/// Four elements' bytes; byte j is element j of the quad.
inline uint32_t quad_at(const void* bytes, int quad) {
  uint32_t out;
  std::memcpy(&out, static_cast<const std::byte*>(bytes) + 4 * quad, sizeof out);
  return out;
}

/// The field of `bits` bits from bit `shift` in each byte.
template <int bits>
inline uint32_t fields(uint32_t bytes, int shift) {
  return bytes >> shift & 0x01010101u * ((1u << bits) - 1);
}

/// Formats of 32 keep elements i and i + 16 in one byte: a quad of bytes is a packed word already.
inline void nibble_words(const uint8_t qs[16], uint32_t* words) {
  for (int v = 0; v < 4; ++v) words[v] = quad_at(qs, v);
}

/// Gathers the bit field of `bits` bits from bit `shift` in each of 32 bytes.
template <int bits>
inline void field_words(const uint8_t bytes[32], int shift, uint32_t* words) {
  for (int v = 0; v < bits; ++v) words[v] = 0;
  for (int quad = 0; quad < kQuads; ++quad) {
    words[quad % bits] |= fields<bits>(quad_at(bytes, quad), shift) << (quad / bits * bits);
  }
}

/// Bit i of byte j from bit 4 i + j: the fifth bits of Q5_0 and Q5_1.
inline uint32_t spread_bits(const uint8_t qh[4]) {
  const uint32_t bits = quad_at(qh, 0);
  uint32_t out = 0;
  for (int j = 0; j < 4; ++j) {
    uint32_t x = bits >> j & 0x11111111u;
    x = (x | x >> 3) & 0x03030303u;
    x = (x | x >> 6) & 0x000f000fu;
    out |= ((x | x >> 12) & 0xffu) << (8 * j);
  }
  return out;
}

inline void group_words(const BlockQ4_0& b, int, uint32_t* words) { nibble_words(b.qs, words); }
inline void group_words(const BlockQ4_1& b, int, uint32_t* words) { nibble_words(b.qs, words); }
inline void group_words(const BlockIq4Nl& b, int, uint32_t* words) { nibble_words(b.qs, words); }
inline void group_words(const BlockMxfp4& b, int, uint32_t* words) { nibble_words(b.qs, words); }
inline void group_words(const BlockIq4Xs& b, int g, uint32_t* words) {
  nibble_words(b.qs + 16 * g, words);
}
inline void group_words(const BlockQ5_0& b, int, uint32_t* words) {
  nibble_words(b.qs, words);
  words[4] = spread_bits(b.qh);
}
inline void group_words(const BlockQ5_1& b, int, uint32_t* words) {
  nibble_words(b.qs, words);
  words[4] = spread_bits(b.qh);
}
inline void group_words(const BlockQ8_0& b, int, uint32_t* words) {
  for (int quad = 0; quad < kQuads; ++quad) words[quad] = quad_at(b.qs, quad) ^ 0x80808080u;
}
inline void group_words(const BlockQ4_K& b, int g, uint32_t* words) {
  field_words<4>(b.qs + g / 2 * 32, g % 2 * 4, words);
}
inline void group_words(const BlockQ5_K& b, int g, uint32_t* words) {
  field_words<4>(b.qs + g / 2 * 32, g % 2 * 4, words);
  field_words<1>(b.qh, g, words + 4);
}
inline void group_words(const BlockQ6_K& b, int g, uint32_t* words) {
  field_words<4>(b.ql + g / 4 * 64 + g % 2 * 32, g / 2 % 2 * 4, words);
  field_words<2>(b.qh + g / 4 * 32, g % 4 * 2, words + 4);
}
inline void group_words(const BlockQ3_K& b, int g, uint32_t* words) {
  field_words<2>(b.qs + g / 4 * 32, g % 4 * 2, words);
  field_words<1>(b.hmask, g, words + 2);
}
inline void group_words(const BlockQ2_K& b, int g, uint32_t* words) {
  field_words<2>(b.qs + g / 4 * 32, g % 4 * 2, words);
}

inline void group_words(const BlockQ2_0& b, int g, uint32_t* words) {
  uint8_t codes[kGroup];
  for (int i = 0; i < kGroup; ++i) codes[i] = static_cast<uint8_t>(q2_0_code(b, kGroup * g + i));
  field_words<2>(codes, 0, words);
}

inline void put_u16(std::byte* header, int row, uint16_t value) {
  std::memcpy(header + 2 * row, &value, sizeof value);
}
/// The inverse of six_bits_at.
inline void put_six_bits(std::byte* p, int row, const uint8_t values[8]) {
  for (int j = 0; j < 4; ++j) {
    p[16 * j + row] = static_cast<std::byte>(values[j] | values[j + 4] >> 4 << 6);
  }
  for (int j = 0; j < 2; ++j) {
    p[64 + 16 * j + row] = static_cast<std::byte>((values[4 + j] & 15) | values[6 + j] << 4);
  }
}
/// Scales in [-32, 31] as their unsigned originals.
inline void put_signed_six_bits(std::byte* p, int row, const int8_t scales[8]) {
  uint8_t values[8];
  for (int j = 0; j < 8; ++j) values[j] = static_cast<uint8_t>(scales[j] + 32);
  put_six_bits(p, row, values);
}

/// Blocks that have a scale `d` and nothing else.
template <class Block>
inline void put_header(const Block& b, int row, std::byte* header) {
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
inline void put_scales_minima(const Block& b, int row, std::byte* header) {
  uint8_t scales[8], minima[8];
  unpack_k_scales(b.scales, scales, minima);
  put_u16(header, row, b.d);
  put_u16(header + 32, row, b.dmin);
  put_six_bits(header + 64, row, scales);
  put_six_bits(header + 64 + kSixBytes, row, minima);
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
  put_signed_six_bits(header + 32, row, scales);
}
inline void put_header(const BlockQ6_K& b, int row, std::byte* header) {
  put_u16(header, row, b.d);
  for (int h = 0; h < 16; ++h) header[32 + 16 * h + row] = static_cast<std::byte>(b.scales[h]);
}
inline void put_header(const BlockQ3_K& b, int row, std::byte* header) {
  int8_t scales[16];
  unpack_q3_k_scales(b.scales, scales);
  put_u16(header, row, b.d);
  put_signed_six_bits(header + 32, row, scales);
  put_signed_six_bits(header + 32 + kSixBytes, row, scales + 8);
}
inline void put_header(const BlockQ2_K& b, int row, std::byte* header) {
  put_u16(header, row, b.d);
  put_u16(header + 32, row, b.dmin);
  for (int h = 0; h < 16; ++h) header[64 + 16 * h + row] = static_cast<std::byte>(b.scales[h]);
}

}  // namespace tandem::kernels::packed
