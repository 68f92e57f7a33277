#include "evaluation/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tandem {
namespace {

TEST(Wilson, EndsLieZDeviationsFromTheShare) {
  // The ends are the shares p that lie z deviations sqrt(p (1 - p) / n) from the one seen.
  constexpr double kZ = 1.959963984540054;
  for (const auto& [right, n] :
       {std::pair<uint64_t, uint64_t>{10, 20}, {116, 120}, {0, 7}, {7, 7}}) {
    const Interval interval = wilson_interval(right, n);
    const double share = static_cast<double>(right) / static_cast<double>(n);
    for (const double p : {interval.low, interval.high}) {
      EXPECT_NEAR((share - p) * (share - p), kZ * kZ * p * (1 - p) / static_cast<double>(n), 1e-12);
    }
  }
  EXPECT_EQ(wilson_interval(0, 0).low, 0);
  EXPECT_EQ(wilson_interval(0, 0).high, 1);
}

TEST(McNemar, IsTwiceTheBinomialTail) {
  // At most 1 of 10 fair coins: (1 + 10) / 2^10, and as much on the other side.
  EXPECT_NEAR(mcnemar_p_value(1, 9), 22.0 / 1024, 1e-12);
  EXPECT_EQ(mcnemar_p_value(9, 1), mcnemar_p_value(1, 9));
  EXPECT_EQ(mcnemar_p_value(5, 5), 1.0);
  EXPECT_EQ(mcnemar_p_value(0, 0), 1.0);
  EXPECT_NEAR(mcnemar_p_value(1000, 1000), 1.0, 1e-12);
  EXPECT_LT(mcnemar_p_value(0, 2000), 1e-300);
}

TEST(PairedDifference, HoldsTheDifferenceAndShrinksWithN) {
  // By hand for 12 against 4 of 100: shares 13/102 and 5/102, difference 8/102,
  // spread 1.96 sqrt((18/102 - (8/102)^2) / 102) = 0.080099.
  const Interval interval = paired_difference_interval(12, 4, 100);
  EXPECT_NEAR(interval.low, 0.078431 - 0.080098, 2e-5);
  EXPECT_NEAR(interval.high, 0.078431 + 0.080098, 2e-5);
  const Interval larger = paired_difference_interval(120, 40, 1000);
  EXPECT_LT(larger.high - larger.low, interval.high - interval.low);
}

TEST(Quantile, IsLinearBetweenNeighbours) {
  // numpy.quantile([3, 1, 4, 1, 5], q), its default method.
  const auto of = [](double q) {
    std::vector<double> values{3, 1, 4, 1, 5};
    return quantile(values, q);
  };
  EXPECT_DOUBLE_EQ(of(0), 1);
  EXPECT_DOUBLE_EQ(of(0.5), 3);
  EXPECT_DOUBLE_EQ(of(0.9), 4.6);
  EXPECT_DOUBLE_EQ(of(1), 5);
}

std::vector<double> normal_values(size_t n, size_t repeats) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> out;
  while (out.size() < n) out.insert(out.end(), repeats, normal(random));
  return out;
}

TEST(BlockBootstrap, ErrorOfIndependentValuesIsDeviationOverRootN) {
  const auto values = normal_values(20000, 1);
  const Measured m = BlockBootstrap(values.size()).mean(values);
  // 100 block means know their deviation to 7 %.
  EXPECT_NEAR(m.standard_error, 1 / std::sqrt(20000.0), 0.25 / std::sqrt(20000.0));
  EXPECT_NEAR(m.interval.high - m.interval.low, 2 * 1.96 * m.standard_error,
              0.15 * 4 * m.standard_error);
  EXPECT_GT(m.value, m.interval.low);
  EXPECT_LT(m.value, m.interval.high);
}

TEST(BlockBootstrap, SeesThatNeighboursDepend) {
  // Every value 16 times: only n / 16 of them are independent.
  const auto values = normal_values(32000, 16);
  const Measured m = BlockBootstrap(values.size()).mean(values);
  EXPECT_NEAR(m.standard_error, 4 / std::sqrt(32000.0), 1 / std::sqrt(32000.0));
  const Measured naive = BlockBootstrap(values.size(), {.block = 1}).mean(values);
  EXPECT_LT(naive.standard_error, 0.4 * m.standard_error);
}

TEST(BlockBootstrap, SameSeedSameDraws) {
  const auto values = normal_values(1000, 1);
  const auto high = [&](uint64_t seed) {
    return BlockBootstrap(values.size(), {.seed = seed}).mean(values).interval.high;
  };
  EXPECT_EQ(high(1), high(1));
  EXPECT_NE(high(1), high(2));
}

TEST(BlockBootstrap, CarriesAFunctionOver) {
  const auto values = normal_values(5000, 1);
  const BlockBootstrap bootstrap(values.size());
  const Measured plain = bootstrap.mean(values);
  const Measured mapped = bootstrap.mean(values, [](double x) { return std::exp(-x); });
  EXPECT_DOUBLE_EQ(mapped.value, std::exp(-plain.value));
  EXPECT_DOUBLE_EQ(mapped.interval.low, std::exp(-plain.interval.high));
  EXPECT_NEAR(mapped.standard_error, std::exp(-plain.value) * plain.standard_error, 1e-6);
}

TEST(BlockBootstrap, QuantileIntervalHoldsTheQuantile) {
  const auto values = normal_values(10000, 1);
  const Measured m = BlockBootstrap(values.size()).quantile(values, 0.99);
  EXPECT_NEAR(m.value, 2.326, 0.1);
  // Deviation of a sample quantile: sqrt(q (1 - q) / n) / density, density 0.0267 there.
  EXPECT_NEAR(m.standard_error, 0.0373, 0.013);
  EXPECT_LE(m.interval.low, m.value);
  EXPECT_GE(m.interval.high, m.value);
}

TEST(BlockBootstrap, ShortAndEmptySequences) {
  EXPECT_EQ(BlockBootstrap(0).mean({}).value, 0);
  const double one[] = {5};
  const Measured m = BlockBootstrap(1).mean(one);
  EXPECT_EQ(m.value, 5);
  EXPECT_EQ(m.standard_error, 0);
  EXPECT_EQ(m.interval.low, 5);
}

}  // namespace
}  // namespace tandem
