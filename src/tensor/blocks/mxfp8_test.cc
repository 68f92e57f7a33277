// FP8 E4M3 against its definition, value by value.

#include "tensor/blocks/mxfp8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tensor/convert.h"

namespace tandem {
namespace {

/// The OCP specification: exponent bias 7, subnormals below it; 0x7f, NaN there, is 480 here.
double value_of(uint8_t code) {
  const int exponent = code >> 3 & 15, mantissa = code & 7;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
  return code & 0x80 ? -magnitude : magnitude;
}

TEST(Mxfp8, DecodesEveryCodeUnderEveryExponent) {
  for (int e = 0; e < 247; ++e) {
    for (int first = 0; first < 256; first += 32) {
      BlockMxfp8 block{static_cast<uint8_t>(e), {}};
      for (int i = 0; i < 32; ++i) block.qs[i] = static_cast<uint8_t>(first + i);
      float out[32];
      decode(block, out);
      for (int i = 0; i < 32; ++i) {
        const double exact = std::ldexp(value_of(static_cast<uint8_t>(first + i)), e - 127);
        ASSERT_EQ(out[i], static_cast<float>(exact)) << e << " " << first + i;
      }
    }
  }
}

TEST(Mxfp8, KnownValues) {
  // OCP 8-bit floating point specification 1.0, table 1: largest 448 (S.1111.110), smallest normal
  // 2^-6 (S.0001.000), largest subnormal 0.875 2^-6 (S.0000.111), smallest 2^-9 (S.0000.001).
  EXPECT_EQ(fp8_from_f32(448.0f), 0x7e);
  EXPECT_EQ(fp8_from_f32(0x1p-6f), 0x08);
  EXPECT_EQ(fp8_from_f32(0.875f * 0x1p-6f), 0x07);
  EXPECT_EQ(fp8_from_f32(-0x1p-9f), 0x81);
  EXPECT_EQ(fp8_from_f32(1.0f), 0x38);
  EXPECT_EQ(fp8_from_f32(0.0f), 0x00);
}

TEST(Mxfp8, RoundsToTheNearestCodeAndToEvenOnTies) {
  for (int code = 0; code < 0x7e; ++code) {
    const float low = static_cast<float>(value_of(static_cast<uint8_t>(code)));
    const float high = static_cast<float>(value_of(static_cast<uint8_t>(code + 1)));
    const float middle = (low + high) / 2;  // exact
    const int even = code % 2 == 0 ? code : code + 1;
    EXPECT_EQ(fp8_from_f32(low), code);
    EXPECT_EQ(fp8_from_f32(middle), even) << code;
    EXPECT_EQ(fp8_from_f32(std::nextafter(middle, 0.0f)), code);
    EXPECT_EQ(fp8_from_f32(std::nextafter(middle, 1000.0f)), code + 1);
    EXPECT_EQ(fp8_from_f32(-std::nextafter(middle, 1000.0f)), 0x80 | (code + 1));
  }
  for (const float beyond : {449.0f, 1e30f, std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(fp8_from_f32(beyond), 0x7e);
    EXPECT_EQ(fp8_from_f32(-beyond), 0xfe);
  }
}

double squared_error(const float* in, const BlockMxfp8& block) {
  float back[32];
  decode(block, back);
  double sum = 0;
  for (int i = 0; i < 32; ++i) sum += (double{in[i]} - back[i]) * (double{in[i]} - back[i]);
  return sum;
}

TEST(Mxfp8, ChoosesTheBestOfTwoExponents) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  int wider = 0;
  for (int n = 0; n < 500; ++n) {
    float in[32];
    float largest = 0;
    for (float& x : in) {
      x = normal(random);
      largest = std::max(largest, std::fabs(x));
    }
    BlockMxfp8 block;
    encode(in, block);
    const int standard = static_cast<int>(std::floor(std::log2(largest))) - 8 + 127;
    ASSERT_TRUE(block.e == standard || block.e == standard + 1);
    wider += block.e != standard;
    BlockMxfp8 other;
    other.e = static_cast<uint8_t>(2 * standard + 1 - block.e);
    for (int i = 0; i < 32; ++i) other.qs[i] = fp8_from_f32(std::ldexp(in[i], 127 - other.e));
    EXPECT_LE(squared_error(in, block), squared_error(in, other));
  }
  EXPECT_GT(wider, 10);  // largest weights above 448 times the power of two do occur
}

TEST(Mxfp8, CostsAFortiethOfNormalWeights) {
  // Three mantissa bits: relative errors spread evenly up to 1/16 of a binade give 2.6 %.
  std::mt19937 random(2);
  std::normal_distribution<float> normal(0.0f, 0.02f);
  std::vector<float> w(8192), back(8192);
  for (float& x : w) x = normal(random);
  std::vector<std::byte> bytes(row_bytes(DType::kMXFP8, w.size()));
  encode_row(DType::kMXFP8, w.data(), bytes.data(), w.size());
  decode_row(DType::kMXFP8, bytes.data(), back.data(), w.size());
  double error = 0, total = 0;
  for (size_t i = 0; i < w.size(); ++i) {
    error += (double{w[i]} - back[i]) * (double{w[i]} - back[i]);
    total += double{w[i]} * w[i];
  }
  EXPECT_LT(std::sqrt(error / total), 0.028);
  EXPECT_GT(std::sqrt(error / total), 0.020);
}

TEST(Mxfp8, FindsWhatIsNotANumber) {
  std::vector<float> w(64, 1.0f);
  std::vector<std::byte> bytes(row_bytes(DType::kMXFP8, 64));
  encode_row(DType::kMXFP8, w.data(), bytes.data(), 64);
  EXPECT_EQ(first_non_finite(DType::kMXFP8, bytes.data(), 64), 64u);
  for (const uint8_t code : {0x7f, 0xff}) {
    std::vector<std::byte> bad = bytes;
    bad[33 + 17] = std::byte{code};
    EXPECT_EQ(first_non_finite(DType::kMXFP8, bad.data(), 64), 32u);
  }
  bytes[33] = std::byte{247};
  EXPECT_EQ(first_non_finite(DType::kMXFP8, bytes.data(), 64), 32u);
  std::vector<float> out(64);
  decode_row(DType::kMXFP8, bytes.data(), out.data(), 64);
  EXPECT_TRUE(std::isinf(out[40]));
}

TEST(Mxfp8, EncodesBytesWithoutMeaningWithoutUndefinedBehaviour) {
  for (const float special : {std::numeric_limits<float>::infinity(), 3e38f, 1e-45f, -1e-38f,
                              std::numeric_limits<float>::quiet_NaN()}) {
    float in[32] = {};
    in[3] = special;
    BlockMxfp8 block;
    encode(in, block);
    EXPECT_TRUE(is_finite(block));
  }
}

}  // namespace
}  // namespace tandem
