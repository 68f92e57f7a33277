// The fit against Q8_0, against the best Q4_0, and at the edges of what f16 scales can hold.

#include "quantize/nested_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "base/mapped_file.h"
#include "formats/gguf_reader.h"
#include "tensor/blocks/fit.h"
#include "tensor/blocks/q4_0.h"
#include "tensor/convert.h"
#include "tensor/nested_tensor.h"

namespace tandem {
namespace {

struct Planes {
  std::vector<std::byte> high, low;
  explicit Planes(size_t columns) : high(columns / 32 * 18), low(columns / 2) {}
};

/// Root of the summed squared error over the summed squares.
double rms(double error, double weights) { return std::sqrt(error / weights); }

double plain_error(DType type, const std::vector<float>& w) {
  std::vector<std::byte> bytes(row_bytes(type, w.size()));
  std::vector<float> decoded(w.size());
  encode_row(type, w.data(), bytes.data(), w.size());
  decode_row(type, bytes.data(), decoded.data(), w.size());
  double error = 0, total = 0;
  for (size_t i = 0; i < w.size(); ++i) {
    error += std::pow(static_cast<double>(w[i]) - decoded[i], 2);
    total += static_cast<double>(w[i]) * w[i];
  }
  return rms(error, total);
}

/// The least error of 4-bit codes that a search for INT4 alone finds.
double best_int4_error(const std::vector<float>& w) {
  double error = 0, total = 0;
  for (size_t g = 0; g < w.size(); g += 32) {
    int8_t codes[32];
    const float s =
        f16_to_f32(f32_to_f16(blocks::fit_scale(&w[g], 32, blocks::IntegerCodes{-8, 7}, codes)));
    for (int i = 0; i < 32; ++i) {
      const float x = s == 0 ? 0 : w[g + i] / s;
      const double h = std::fmin(7, std::fmax(-8, std::nearbyint(x)));
      error += std::pow(w[g + i] - s * h, 2);
      total += std::pow(w[g + i], 2);
    }
  }
  return rms(error, total);
}

NestedErrors nested_errors(const std::vector<float>& w, uint32_t shift) {
  Planes planes(w.size());
  NestedErrors out;
  encode_nested_row(w.data(), nullptr, w.size(), shift, planes.high.data(), planes.low.data());
  EXPECT_EQ(first_invalid_pair(planes.high.data(), planes.low.data(), w.size(), shift), w.size());
  add_nested_errors(w.data(), planes.high.data(), planes.low.data(), w.size(), shift, out);
  return out;
}

void expect_promised_errors(const std::vector<float>& w) {
  const NestedErrors e = nested_errors(w, 4);
  EXPECT_LT(rms(e.both, e.weights), 1.3 * plain_error(DType::kQ8_0, w));
  EXPECT_LT(rms(e.high, e.weights), 1.06 * best_int4_error(w));
  EXPECT_LT(rms(e.high, e.weights), plain_error(DType::kQ4_0, w)) << "Q4_0's own encoder";
}

std::vector<float> normal(size_t n, float sigma) {
  std::mt19937 random(1);
  std::normal_distribution<float> distribution(0.0f, sigma);
  std::vector<float> out(n);
  for (float& x : out) x = distribution(random);
  return out;
}

TEST(NestedFit, KeepsItsPromiseOnNormalWeights) { expect_promised_errors(normal(1 << 15, 0.03f)); }

TEST(NestedFit, KeepsItsPromiseOnTrainedWeights) {
  const auto file = open_gguf(TANDEM_SOURCE_DIR "/models/demo/demo-f16.gguf");
  ASSERT_TRUE(file);
  for (const char* name : {"token_embd.weight", "blk.0.attn_q.weight", "blk.3.ffn_down.weight"}) {
    SCOPED_TRACE(name);
    const TensorView* t = file->find(name);
    ASSERT_NE(t, nullptr);
    std::vector<float> w(std::min<uint64_t>(t->n_elements(), 1 << 15));
    decode_row(t->type, t->bytes.data(), w.data(), w.size());
    expect_promised_errors(w);
  }
}

TEST(NestedFit, WeightsOfASingleSignAndOutliersAreNoException) {
  std::vector<float> w = normal(1 << 12, 1.0f);
  for (size_t i = 0; i < w.size(); ++i) w[i] = i / 32 % 2 ? std::fabs(w[i]) : -std::fabs(w[i]);
  for (size_t i = 7; i < w.size(); i += 96) w[i] *= 20.0f;
  const NestedErrors e = nested_errors(w, 4);
  EXPECT_LT(rms(e.both, e.weights), 1.3 * plain_error(DType::kQ8_0, w));
}

TEST(NestedFit, ImportantChannelsAreFittedBetter) {
  const std::vector<float> w = normal(1 << 12, 1.0f);
  std::vector<float> importance(w.size(), 1.0f);
  for (size_t i = 0; i < w.size(); i += 8) importance[i] = 100.0f;
  double plain = 0, weighted = 0;
  for (const bool use : {false, true}) {
    Planes planes(w.size());
    encode_nested_row(w.data(), use ? importance.data() : nullptr, w.size(), 4, planes.high.data(),
                      planes.low.data());
    std::vector<float> decoded(w.size());
    decode_row(DType::kQ4_0, planes.high.data(), decoded.data(), w.size());
    for (size_t i = 0; i < w.size(); i += 8) {
      (use ? weighted : plain) += std::pow(w[i] - decoded[i], 2);
    }
  }
  EXPECT_LT(weighted, plain);
}

TEST(NestedFit, EveryScaleOfF16GivesValidCodes) {
  const std::vector<float> shape = normal(32, 1.0f);
  for (int exponent = -40; exponent < 20; ++exponent) {
    std::vector<float> w = shape;
    for (float& x : w) x = std::ldexp(x, exponent);
    for (const uint32_t shift : {3, 4}) {
      const NestedGroup group = fit_nested_group(w.data(), nullptr, shift);
      for (int i = 0; i < 32; ++i) {
        ASSERT_TRUE(group.h[i] >= -8 && group.h[i] <= 7 && group.l[i] >= -8 && group.l[i] <= 7);
        ASSERT_FALSE(shift == 4 && group.h[i] == -8 && group.l[i] < 0);
      }
      if (exponent < -14 || exponent > 13) continue;
      for (int i = 0; i < 32; ++i) {
        const float s = f16_to_f32(group.scale);
        const float both = s * (group.h[i] + std::ldexp(static_cast<float>(group.l[i]), -shift));
        ASSERT_NEAR(both, w[i], std::fabs(s) * 0.25f) << exponent;
      }
    }
  }
}

TEST(NestedFit, ZerosStayZeros) {
  const std::vector<float> w(64, 0.0f);
  Planes planes(64);
  encode_nested_row(w.data(), nullptr, 64, 4, planes.high.data(), planes.low.data());
  std::vector<float> decoded(64, 1.0f);
  decode_nested_row(planes.high.data(), planes.low.data(), 64, 4, decoded.data());
  EXPECT_EQ(decoded, w);
}

TEST(NestedFit, RefiningAForeignQ4_0RowReducesItsError) {
  const std::vector<float> w = normal(1 << 12, 1.0f);
  Planes planes(w.size());
  encode_row(DType::kQ4_0, w.data(), planes.high.data(), w.size());
  for (const uint32_t shift : {3, 4}) {
    refine_row(w.data(), planes.high.data(), w.size(), shift, planes.low.data());
    EXPECT_EQ(first_invalid_pair(planes.high.data(), planes.low.data(), w.size(), shift), w.size());
    NestedErrors e;
    add_nested_errors(w.data(), planes.high.data(), planes.low.data(), w.size(), shift, e);
    EXPECT_LT(e.both * (shift == 3 ? 40 : 5), e.high) << shift;
  }
}

}  // namespace
}  // namespace tandem
