// The f16 and bf16 conversions against the processor's own and against their definitions.

#include "tensor/f16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/cpu_features.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tandem {
namespace {

/// The value of a finite pattern by IEEE 754's formula.
double f16_value(uint16_t h) {
  const int exponent = h >> 10 & 31;
  const double mantissa = (h & 1023) / 1024.0;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -14) : std::ldexp(1.0 + mantissa, exponent - 15);
  return h >> 15 ? -magnitude : magnitude;
}

TEST(F16ToF32, EqualsTheFormulaForEveryPattern) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const float f = f16_to_f32(static_cast<uint16_t>(h));
    if ((h & 0x7fff) > 0x7c00) {
      EXPECT_TRUE(std::isnan(f)) << h;
    } else if ((h & 0x7fff) == 0x7c00) {
      EXPECT_TRUE(std::isinf(f) && std::signbit(f) == (h >> 15 != 0)) << h;
    } else {
      ASSERT_EQ(static_cast<double>(f), f16_value(static_cast<uint16_t>(h))) << h;
      ASSERT_EQ(std::signbit(f), h >> 15 != 0) << h;
    }
  }
}

TEST(F32ToF16, ReturnsEveryPatternThatF16ToF32Widened) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const bool nan = (h & 0x7fff) > 0x7c00;
    const uint32_t expected = nan ? h | 0x200 : h;
    ASSERT_EQ(f32_to_f16(f16_to_f32(static_cast<uint16_t>(h))), expected) << h;
  }
}

TEST(F32ToF16, RoundsHalfwayCasesToEven) {
  for (uint16_t h = 0; h < 0x7bff; ++h) {
    const double middle = (f16_value(h) + f16_value(static_cast<uint16_t>(h + 1))) / 2;
    const float halfway = static_cast<float>(middle);
    ASSERT_EQ(static_cast<double>(halfway), middle);
    ASSERT_EQ(f32_to_f16(halfway), h + (h & 1)) << h;
    ASSERT_EQ(f32_to_f16(std::nextafter(halfway, 0.0f)), h) << h;
    ASSERT_EQ(f32_to_f16(std::nextafter(halfway, 1e9f)), h + 1) << h;
    ASSERT_EQ(f32_to_f16(-halfway), (h + (h & 1)) | 0x8000) << h;
  }
}

TEST(F32ToF16, OverflowsToInfinity) {
  EXPECT_EQ(f32_to_f16(65519.996f), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f32_to_f16(-std::numeric_limits<float>::max()), 0xfc00);
  EXPECT_EQ(f32_to_f16(std::numeric_limits<float>::infinity()), 0x7c00);
}

#if defined(__x86_64__)

[[gnu::target("f16c")]] uint16_t narrow_by_instruction(float f) {
  const __m128i h = _mm_cvtps_ph(_mm_set_ss(f), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  return static_cast<uint16_t>(_mm_cvtsi128_si32(h));
}

[[gnu::target("f16c")]] uint32_t widen_by_instruction(uint16_t h) {
  return std::bit_cast<uint32_t>(_mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(h))));
}

TEST(F16ToF32, EqualsTheInstructionForEveryPattern) {
  if (!CpuFeatures::detect().avx2) GTEST_SKIP() << "this processor lacks F16C";
  for (uint32_t i = 0; i < 0x10000; ++i) {
    const uint16_t h = static_cast<uint16_t>(i);
    ASSERT_EQ(std::bit_cast<uint32_t>(f16_to_f32(h)), widen_by_instruction(h)) << i;
  }
}

TEST(F32ToF16, EqualsTheInstructionAllOverTheRange) {
  if (!CpuFeatures::detect().avx2) GTEST_SKIP() << "this processor lacks F16C";
  constexpr uint64_t kStride = 1021;  // prime, so every low bit pattern occurs
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += kStride) {
    const float f = std::bit_cast<float>(static_cast<uint32_t>(bits));
    ASSERT_EQ(f32_to_f16(f), narrow_by_instruction(f)) << std::hex << bits;
  }
}

#endif

TEST(Bf16, WidensExactlyAndReturns) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const float f = bf16_to_f32(static_cast<uint16_t>(h));
    ASSERT_EQ(std::bit_cast<uint32_t>(f), h << 16);
    const bool nan = (h & 0x7fff) > 0x7f80;
    ASSERT_EQ(f32_to_bf16(f), nan ? h | 0x40 : h) << h;
  }
}

TEST(Bf16, RoundsToNearestEven) {
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3f808000u)), 0x3f80);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3f808001u)), 0x3f81);
  EXPECT_EQ(f32_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x7f800001u)), 0x7fc0);  // NaN, not infinity
}

}  // namespace
}  // namespace tandem
