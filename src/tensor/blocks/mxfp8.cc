// Rounds weights to FP8 under a shared exponent.

#include "tensor/blocks/mxfp8.h"

#include <algorithm>
#include <cmath>

namespace tandem {
namespace {

constexpr float kLargest = 448.0f;
constexpr uint8_t kLargestCode = 0x7e;
constexpr int kLargestExponent = 246;

double encode_at(const float* in, int exponent, BlockMxfp8& out) {
  out.e = static_cast<uint8_t>(exponent);
  const float inverse = std::ldexp(1.0f, 127 - exponent);
  double error = 0;
  for (int i = 0; i < BlockMxfp8::kElements; ++i) out.qs[i] = fp8_from_f32(in[i] * inverse);
  float back[BlockMxfp8::kElements];
  decode(out, back);
  for (int i = 0; i < BlockMxfp8::kElements; ++i) {
    const double rest = static_cast<double>(in[i]) - back[i];
    error += rest * rest;
  }
  return error;
}

}  // namespace

uint8_t fp8_from_f32(float x) {
  const uint8_t sign = std::signbit(x) ? 0x80 : 0;
  const float magnitude = std::fabs(x);
  if (!(magnitude < kLargest)) return sign | kLargestCode;
  // The spacing of codes: 2^-9 below 2^-6, above it an eighth of the power of two below.
  const int exponent =
      std::max(static_cast<int>(std::bit_cast<uint32_t>(magnitude) >> 23) - 127, -6);
  const int steps = blocks::round_within(std::ldexp(magnitude, 3 - exponent), 0, 16);
  // 16 steps carry into the next exponent, and fewer than 8 are subnormal: both by plain addition.
  return static_cast<uint8_t>(sign | ((exponent + 6) * 8 + steps));
}

void encode(const float* in, BlockMxfp8& out) {
  const float largest = std::fabs(blocks::signed_max(in, BlockMxfp8::kElements));
  const int power = static_cast<int>(std::bit_cast<uint32_t>(largest) >> 23) - 127;
  const int exponent = std::clamp(power - 8 + 127, 0, kLargestExponent);
  const double error = encode_at(in, exponent, out);
  if (largest * std::ldexp(1.0f, 127 - exponent) <= kLargest || exponent == kLargestExponent)
    return;
  BlockMxfp8 wider;
  if (encode_at(in, exponent + 1, wider) < error) out = wider;
}

}  // namespace tandem
