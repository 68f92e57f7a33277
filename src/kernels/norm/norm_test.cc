#include "kernels/norm/norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/guarded_array.h"
#include "tests/support/kernel_rows.h"

namespace tandem::kernels {
namespace {

using testing_support::GuardedArray;
using testing_support::kLengths;
using testing_support::runs_here;

constexpr float kEps = 1e-6f;
constexpr size_t kPadding = 3;  ///< floats between rows, so that rows are misaligned

struct Problem {
  Problem(size_t n_rows, size_t n)
      : n_rows(n_rows), n(n), x(n_rows * (n + kPadding) - kPadding), weight(n) {
    std::mt19937 random(static_cast<unsigned>(n));
    std::normal_distribution<float> normal(0.0f, 3.0f);
    for (float& v : x) v = normal(random);
    for (float& v : weight) v = normal(random);
  }
  RmsNormArgs args(float* y, bool weighted) const {
    return {.x = x.data(),
            .weight = weighted ? weight.data() : nullptr,
            .y = y,
            .n_rows = n_rows,
            .n = n,
            .x_stride = (n + kPadding) * sizeof(float),
            .y_stride = n * sizeof(float),
            .eps = kEps};
  }
  size_t n_rows;
  size_t n;
  GuardedArray<float> x;
  GuardedArray<float> weight;
};

bool same_bits(const GuardedArray<float>& a, const GuardedArray<float>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class RmsNorm : public testing::TestWithParam<RmsNormRow> {
 protected:
  void SetUp() override {
    if (!runs_here(GetParam().isa)) {
      GTEST_SKIP() << "this processor lacks " << to_string(GetParam().isa);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Rows, RmsNorm,
                         testing::ValuesIn(rms_norm_rows().begin(), rms_norm_rows().end()),
                         [](const auto& param) { return std::string(param.param.name); });

/// In units of u = 2^-24 each result carries: n / 16 + 4 roundings of the sum of squares (all terms
/// positive) halved by the root, and at most five more of mean, eps, root, quotient and products.
TEST_P(RmsNorm, EqualsTheFormulaWithinItsRoundings) {
  for (const size_t n : kLengths) {
    const Problem problem(2, n);
    GuardedArray<float> y(2 * n);
    GetParam().run(problem.args(y.data(), true));
    const double bound = (static_cast<double>(n) / 32 + 8) * 0x1p-24;
    for (size_t r = 0; r < 2; ++r) {
      const float* x = problem.x.data() + r * (n + kPadding);
      double sum = 0.0;
      for (size_t i = 0; i < n; ++i) sum += double{x[i]} * x[i];
      const double inverse = 1.0 / std::sqrt(sum / static_cast<double>(n) + double{kEps});
      for (size_t i = 0; i < n; ++i) {
        const double expected = x[i] * inverse * problem.weight[i];
        ASSERT_NEAR(y[r * n + i], expected, bound * std::fabs(expected))
            << n << " " << r << " " << i;
      }
    }
  }
}

TEST_P(RmsNorm, GivesTheScalarBits) {
  for (const size_t n : kLengths) {
    const Problem problem(3, n);
    for (const bool weighted : {true, false}) {
      GuardedArray<float> expected(3 * n), actual(3 * n);
      rms_norm_rows()[0].run(problem.args(expected.data(), weighted));
      GetParam().run(problem.args(actual.data(), weighted));
      ASSERT_TRUE(same_bits(actual, expected)) << n;
    }
  }
}

TEST_P(RmsNorm, DoesNotDependOnTheOtherRows) {
  const Problem problem(3, 100);
  GuardedArray<float> together(300), alone(100);
  GetParam().run(problem.args(together.data(), true));
  RmsNormArgs last = problem.args(alone.data(), true);
  last.x += 2 * (100 + kPadding);
  last.n_rows = 1;
  GetParam().run(last);
  EXPECT_EQ(std::memcmp(alone.data(), together.data() + 200, 100 * sizeof(float)), 0);
}

TEST_P(RmsNorm, MayWriteOverItsInput) {
  Problem problem(1, 77);
  GuardedArray<float> expected(77);
  GetParam().run(problem.args(expected.data(), true));
  GetParam().run(problem.args(problem.x.data(), true));
  EXPECT_TRUE(same_bits(problem.x, expected));
}

TEST_P(RmsNorm, KeepsZerosAndPassesNanOn) {
  const std::vector<float> zeros(40, 0.0f);
  std::vector<float> y(40, 1.0f);
  RmsNormArgs args{zeros.data(), nullptr, y.data(), 1, 40, 160, 160, kEps};
  GetParam().run(args);
  EXPECT_EQ(y, zeros);
  std::vector<float> broken(40, 1.0f);
  broken[39] = std::numeric_limits<float>::quiet_NaN();
  args.x = broken.data();
  GetParam().run(args);
  for (const float v : y) EXPECT_TRUE(std::isnan(v));
}

TEST(SelectRmsNorm, TakesTheRowOfTheIsaOrOneBelow) {
  EXPECT_EQ(select_rms_norm(Isa::kScalar).isa, Isa::kScalar);
  EXPECT_EQ(select_rms_norm(Isa::kAvx512Vnni).isa, rms_norm_rows().back().isa);
}

}  // namespace
}  // namespace tandem::kernels
