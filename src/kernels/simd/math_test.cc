// exp and tanh against double precision. The bounds are the maxima over every float of the range
// (docs/numerics.md says how they were measured), rounded up; the test strides through it.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>

#include "kernels/simd/probe.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/ulp.h"

namespace tandem::kernels::simd {
namespace {

using testing_support::ulp_error;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Every how many-th float is tried; TANDEM_TEST_EVERY_FLOAT=1 in the environment tries all.
uint32_t stride() { return std::getenv("TANDEM_TEST_EVERY_FLOAT") != nullptr ? 1 : 4099; }

/// The best row that runs here; the others give the same bits (simd_test).
const ProbeRow& fastest_row() {
  const ProbeRow* best = &probe_rows()[0];
  for (const ProbeRow& row : probe_rows()) {
    if (testing_support::runs_here(row.isa)) best = &row;
  }
  return *best;
}

struct Worst {
  double ulp = 0.0;
  float at = 0.0f;
};

/// The largest error over the floats with bit patterns [first, last], of both signs.
Worst worst_error(Operation operation, const std::function<double(double)>& exact, float first,
                  float last) {
  Worst worst;
  ProbeInput in{};
  int n = 0;
  const auto flush = [&] {
    uint32_t out[32];
    fastest_row().run(operation, in, out);
    for (int i = 0; i < n; ++i) {
      const double ulp = ulp_error(std::bit_cast<float>(out[i]), exact(in.a[i]));
      if (ulp > worst.ulp) worst = {ulp, in.a[i]};
    }
    n = 0;
  };
  const uint32_t last_bits = std::bit_cast<uint32_t>(last);
  for (uint32_t bits = std::bit_cast<uint32_t>(first); bits <= last_bits; bits += stride()) {
    in.a[n++] = std::bit_cast<float>(bits);
    in.a[n++] = -std::bit_cast<float>(bits);
    if (n == 16) flush();
  }
  flush();
  return worst;
}

float apply(Operation operation, float x) {
  ProbeInput in{};
  in.a[0] = x;
  uint32_t out[32];
  fastest_row().run(operation, in, out);
  return std::bit_cast<float>(out[0]);
}

TEST(Exp, StaysWithinItsBound) {
  const Worst worst = worst_error(
      Operation::kExp, [](double x) { return std::exp(x); }, 0.0f, 88.72283f);
  RecordProperty("ulp", std::to_string(worst.ulp));
  EXPECT_LE(worst.ulp, 1.1) << "at " << worst.at;
}

TEST(Exp, StaysWithinItsBoundWhereResultsAreSubnormal) {
  const Worst worst = worst_error(
      Operation::kExp, [](double x) { return x < 0 ? std::exp(x) : kInfinity; }, 88.72284f, 104.5f);
  RecordProperty("ulp", std::to_string(worst.ulp));
  EXPECT_LE(worst.ulp, 1.1) << "at " << worst.at;
}

TEST(Exp, HasTheRightLimits) {
  EXPECT_EQ(apply(Operation::kExp, 0.0f), 1.0f);
  EXPECT_EQ(apply(Operation::kExp, -0.0f), 1.0f);
  EXPECT_EQ(apply(Operation::kExp, -kInfinity), 0.0f);
  EXPECT_EQ(apply(Operation::kExp, kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(apply(Operation::kExp, std::nanf(""))));
}

TEST(Tanh, StaysWithinItsBound) {
  const auto exact = [](double x) { return std::tanh(x); };
  const Worst small = worst_error(Operation::kTanh, exact, 0.0f, 0.625f);
  const Worst large = worst_error(Operation::kTanh, exact, 0.625f, 1e30f);
  RecordProperty("small_ulp", std::to_string(small.ulp));
  RecordProperty("large_ulp", std::to_string(large.ulp));
  EXPECT_LE(small.ulp, 1.5) << "at " << small.at;
  EXPECT_LE(large.ulp, 1.5) << "at " << large.at;
}

TEST(Tanh, HasTheRightLimits) {
  EXPECT_EQ(apply(Operation::kTanh, 0.0f), 0.0f);
  EXPECT_EQ(apply(Operation::kTanh, kInfinity), 1.0f);
  EXPECT_EQ(apply(Operation::kTanh, -kInfinity), -1.0f);
  EXPECT_TRUE(std::isnan(apply(Operation::kTanh, std::nanf(""))));
}

}  // namespace
}  // namespace tandem::kernels::simd
