// Activation codes: the definition in linear.h, and the same bits from every row.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/linear/linear.h"
#include "kernels/linear/linear_testing.h"

namespace tandem::kernels {
namespace {

using testing::Guarded;
using testing::GuardedActivations;

class Quantize : public ::testing::TestWithParam<QuantizeRow> {
 protected:
  void SetUp() override {
    if (!testing::runs_here(GetParam().isa)) GTEST_SKIP() << to_string(GetParam().isa);
  }
  void run(const float* x, size_t m, size_t k, size_t stride, GuardedActivations& out) {
    GetParam().run({.x = x, .x_stride = stride, .n_rows = m, .k = k, .out = out.get()});
  }
};

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Groups of every kind: plain, outliers, zeros, tiny, huge, not finite.
std::vector<float> all_kinds_of_groups(size_t m, size_t k) {
  std::vector<float> x = testing::activations_with_outliers(m, k, 7);
  for (size_t g = 0; g < m * k / 32; ++g) {
    float* group = x.data() + 32 * g;
    switch (g % 11) {
      case 1:
        std::fill_n(group, 32, -0.0f);
        break;
      case 3:
        for (int i = 0; i < 32; ++i) group[i] *= 0x1p-119f;
        break;
      case 4:
        for (int i = 0; i < 32; ++i) group[i] *= 0x1p-140f;
        break;
      case 5:
        for (int i = 0; i < 32; ++i) group[i] *= 0x1p100f;
        break;
      case 7:
        group[g % 32] = g % 2 == 0 ? kInfinity : -kInfinity;
        break;
      case 9:
        group[g % 32] = kNan;
        break;
      default:
        break;
    }
  }
  return x;
}

TEST_P(Quantize, EqualsTheScalarRowToTheBit) {
  constexpr size_t kM = 5, kK = 1056;
  const std::vector<float> values = all_kinds_of_groups(kM, kK);
  // Rows apart by more than their length, the last one at a guard page, not 64-byte aligned.
  constexpr size_t kStride = kK + 3;
  Guarded<float> x(kM * kStride - 3);
  for (size_t m = 0; m < kM; ++m) std::copy_n(&values[m * kK], kK, &x[m * kStride]);
  GuardedActivations expected(kM, kK), actual(kM, kK);
  quantize_rows()[0].run({x.data(), kStride * sizeof(float), kM, kK, expected.get()});
  run(x.data(), kM, kK, kStride * sizeof(float), actual);
  EXPECT_EQ(std::memcmp(actual.codes.data(), expected.codes.data(), kM * kK), 0);
  EXPECT_EQ(std::memcmp(actual.scales.data(), expected.scales.data(), kM * kK / 8), 0);
  EXPECT_EQ(std::memcmp(actual.sums.data(), expected.sums.data(), kM * kK / 8), 0);
}

double squared_error(const float* group, const int8_t* codes, double step) {
  double total = 0;
  for (int i = 0; i < 32; ++i) total += std::pow(group[i] - codes[i] * step, 2);
  return total;
}

double squared_error_with(const float* group, double max, double largest_code) {
  int8_t codes[32];
  for (int i = 0; i < 32; ++i) {
    codes[i] = static_cast<int8_t>(std::nearbyint(group[i] * largest_code / max));
  }
  return squared_error(group, codes, max / largest_code);
}

TEST_P(Quantize, FollowsItsDefinition) {
  constexpr size_t kM = 3, kK = 96;
  const std::vector<float> x = testing::activations_with_outliers(kM, kK, 8);
  GuardedActivations out(kM, kK);
  run(x.data(), kM, kK, kK * sizeof(float), out);
  for (size_t g = 0; g < kM * kK / 32; ++g) {
    const float* group = &x[32 * g];
    const int8_t* codes = &out.codes[32 * g];
    double max = 0, num = 0, den = 0;
    int sums[2] = {}, largest_code = 0;
    for (int i = 0; i < 32; ++i) {
      max = std::max<double>(max, std::fabs(group[i]));
      largest_code = std::max(largest_code, std::abs(codes[i]));
      num += static_cast<double>(group[i]) * codes[i];
      den += codes[i] * codes[i];
      sums[i / 16] += codes[i];
    }
    ASSERT_TRUE(largest_code >= 125 && largest_code <= 127) << largest_code;
    for (int i = 0; i < 32; ++i) {
      // Half a step, plus what two float roundings of the quotient may move.
      ASSERT_LE(std::fabs(group[i] * largest_code / max - codes[i]), 0.5 + 127 * 0x1p-22);
    }
    const double error = squared_error(group, codes, max / largest_code);
    for (const double other : {125.0, 126.0, 127.0}) {
      // Each difference carries the step's rounding, at most 127 steps * 2^-24.
      EXPECT_LE(error, squared_error_with(group, max, other) * (1 + 1e-3)) << other;
    }
    EXPECT_NEAR(out.scales[g], num / den, num / den * 32 * 0x1p-24);
    EXPECT_EQ(out.sums[2 * g], sums[0]);
    EXPECT_EQ(out.sums[2 * g + 1], sums[1]);
  }
}

TEST_P(Quantize, TiesGoToEvenCodes) {
  std::vector<float> x(32, 0.0f);
  x[0] = 127.0f;
  for (int i = 0; i < 8; ++i) x[i + 1] = static_cast<float>(i) + 0.5f;
  // Whole numbers, which another largest code than 127 would miss.
  for (int i = 9; i < 32; ++i) x[i] = static_cast<float>(90 + i);
  GuardedActivations out(1, 32);
  run(x.data(), 1, 32, 128, out);
  const int expected[] = {127, 0, 2, 2, 4, 4, 6, 6, 8};
  for (int i = 0; i < 9; ++i) EXPECT_EQ(out.codes[i], expected[i]) << i;
}

TEST_P(Quantize, ZeroAndTinyGroupsHaveScaleZero) {
  std::vector<float> x(64, 0.0f);
  for (int i = 32; i < 64; ++i) x[i] = 0x1p-121f;
  GuardedActivations out(1, 64);
  run(x.data(), 1, 64, 256, out);
  for (int g = 0; g < 2; ++g) EXPECT_EQ(std::bit_cast<uint32_t>(out.scales[g]), 0u);
  for (int8_t code : out.codes) EXPECT_EQ(code, 0);
}

TEST_P(Quantize, NonFiniteGroupsAreMarkedAndOthersAreNot) {
  for (const float bad : {kInfinity, -kInfinity, kNan}) {
    for (const size_t place : {0, 13, 31}) {
      std::vector<float> x = testing::normal_values(64, 9);
      x[place] = bad;
      GuardedActivations out(1, 64);
      run(x.data(), 1, 64, 256, out);
      EXPECT_TRUE(std::isnan(out.scales[0]));
      EXPECT_TRUE(std::isfinite(out.scales[1]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, Quantize,
                         ::testing::ValuesIn(quantize_rows().begin(), quantize_rows().end()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tandem::kernels
