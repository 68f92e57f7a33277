#include "model/rope_table.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace tandem {
namespace {

RopeTable plain(uint32_t n_rotated, float base) {
  return make_rope_table({n_rotated, base, {}, {}});
}

TEST(RopeTable, PlainFrequenciesFollowTheFormula) {
  const RopeTable table = plain(8, 10000.0f);
  ASSERT_EQ(table.inverse_frequencies.size(), 4u);
  for (int p = 0; p < 4; ++p) {
    EXPECT_FLOAT_EQ(table.inverse_frequencies[p], std::pow(10000.0, -2.0 * p / 8)) << p;
  }
  EXPECT_EQ(table.magnitude, 1.0f);
}

TEST(RopeTable, DivisorsDivide) {
  const std::array<float, 4> divisors{1, 2, 4, 8};
  const RopeTable table = make_rope_table({8, 10000.0f, {}, divisors});
  for (int p = 0; p < 4; ++p) {
    EXPECT_FLOAT_EQ(table.inverse_frequencies[p] * divisors[p],
                    plain(8, 10000.0f).inverse_frequencies[p]);
  }
}

TEST(RopeTable, LinearScalingStretchesEveryPair) {
  const RopeTable table =
      make_rope_table({8, 10000.0f, {.kind = RopeScaling::Kind::kLinear, .factor = 4.0f}, {}});
  for (int p = 0; p < 4; ++p) {
    EXPECT_FLOAT_EQ(table.inverse_frequencies[p] * 4, plain(8, 10000.0f).inverse_frequencies[p]);
  }
}

// Expected values: Hugging Face transformers' _compute_yarn_parameters formula evaluated by
//   python3 -c "import math; d=64; b=1e4; o=2048; f=16
//   c=lambda r: d*math.log(o/(r*2*math.pi))/(2*math.log(b)); lo=max(math.floor(c(32)),0)
//   hi=min(math.ceil(c(1)),d-1); print(lo, hi, [((1-min(max((p-lo)/(hi-lo),0),1))*(1-1/f)+1/f)
//   for p in (0,8,12,16,31)], 1+.1*math.log(f))"
TEST(RopeTable, YarnKeepsFastPairsAndStretchesSlowOnes) {
  const RopeTable table = make_rope_table(
      {64,
       10000.0f,
       {.kind = RopeScaling::Kind::kYarn, .factor = 16.0f, .original_context = 2048},
       {}});
  const RopeTable base = plain(64, 10000.0f);
  const std::pair<int, double> expected[] = {
      {0, 1.0}, {8, 1.0}, {12, 0.7115384615384616}, {16, 0.4230769230769231}, {31, 0.0625}};
  for (const auto& [pair, factor] : expected) {
    EXPECT_NEAR(table.inverse_frequencies[pair] / base.inverse_frequencies[pair], factor, 1e-6)
        << pair;
  }
  EXPECT_FLOAT_EQ(table.magnitude, 1.0f + 0.1f * std::log(16.0f));
}

TEST(RopeTable, MistralsMultiplierTakesTheMagnitudeBack) {
  const RopeTable table = make_rope_table({64,
                                           10000.0f,
                                           {.kind = RopeScaling::Kind::kYarn,
                                            .factor = 16.0f,
                                            .original_context = 2048,
                                            .yarn_log_multiplier = 1.0f},
                                           {}});
  EXPECT_FLOAT_EQ(table.magnitude, 1.0f);
}

TEST(RopeTable, LongropeTakesItsMagnitudeFromTheFile) {
  const std::array<float, 2> divisors{1, 8};
  const RopeTable table = make_rope_table(
      {4, 10000.0f, {.kind = RopeScaling::Kind::kLongRope, .attention_factor = 1.19f}, divisors});
  EXPECT_FLOAT_EQ(table.magnitude, 1.19f);
  EXPECT_FLOAT_EQ(table.inverse_frequencies[1], 0.01f / 8);
}

}  // namespace
}  // namespace tandem
