#include "kernels/elementwise/elementwise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/guarded_array.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/ulp.h"

namespace tandem::kernels {
namespace {

using testing_support::GuardedArray;
using testing_support::kLengths;
using testing_support::runs_here;
using testing_support::ulp_error;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr Activation kActivations[] = {Activation::kSilu, Activation::kGeluTanh,
                                       Activation::kRelu2};

class Elementwise : public testing::TestWithParam<ElementwiseRow> {
 protected:
  void SetUp() override {
    if (!runs_here(GetParam().isa)) {
      GTEST_SKIP() << "this processor lacks " << to_string(GetParam().isa);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Rows, Elementwise,
                         testing::ValuesIn(elementwise_rows().begin(), elementwise_rows().end()),
                         [](const auto& param) { return std::string(param.param.name); });

/// Every function of a row by a common call.
struct Function {
  const char* name;
  std::function<void(const ElementwiseRow&, const float* a, const float* b, float* y, size_t n)>
      run;
};

std::vector<Function> functions() {
  std::vector<Function> out;
  out.push_back({"add", [](const ElementwiseRow& row, const float* a, const float* b, float* y,
                           size_t n) { row.add(a, b, y, n); }});
  out.push_back({"scale", [](const ElementwiseRow& row, const float* a, const float*, float* y,
                             size_t n) { row.scale(a, 0.3f, y, n); }});
  out.push_back({"softcap", [](const ElementwiseRow& row, const float* a, const float*, float* y,
                               size_t n) { row.softcap(a, 30.0f, y, n); }});
  for (const Activation activation : kActivations) {
    out.push_back({"glu", [activation](const ElementwiseRow& row, const float* a, const float* b,
                                       float* y, size_t n) { row.glu(activation, a, b, y, n); }});
  }
  return out;
}

void fill(GuardedArray<float>& values, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, 20.0f);
  for (float& v : values) v = normal(random);
}

TEST_P(Elementwise, GivesTheScalarBits) {
  for (const Function& function : functions()) {
    for (const size_t n : kLengths) {
      GuardedArray<float> a(n), b(n), expected(n), actual(n);
      fill(a, 1);
      fill(b, 2);
      function.run(elementwise_rows()[0], a.data(), b.data(), expected.data(), n);
      function.run(GetParam(), a.data(), b.data(), actual.data(), n);
      ASSERT_EQ(std::memcmp(actual.data(), expected.data(), n * sizeof(float)), 0)
          << function.name << " " << n;
    }
  }
}

TEST_P(Elementwise, MayWriteOverEitherInput) {
  constexpr size_t kLength = 67;
  for (const Function& function : functions()) {
    GuardedArray<float> a(kLength), b(kLength), expected(kLength);
    fill(a, 1);
    fill(b, 2);
    function.run(GetParam(), a.data(), b.data(), expected.data(), kLength);
    function.run(GetParam(), a.data(), b.data(), a.data(), kLength);
    EXPECT_EQ(std::memcmp(a.data(), expected.data(), kLength * sizeof(float)), 0) << function.name;
    fill(a, 1);
    function.run(GetParam(), a.data(), b.data(), b.data(), kLength);
    EXPECT_EQ(std::memcmp(b.data(), expected.data(), kLength * sizeof(float)), 0) << function.name;
  }
}

TEST_P(Elementwise, AddsAndScales) {
  const float a[] = {1.0f, -2.5f, 0.0f}, b[] = {0.5f, 2.5f, -0.0f};
  float y[3];
  GetParam().add(a, b, y, 3);
  EXPECT_THAT(y, testing::ElementsAre(1.5f, 0.0f, 0.0f));
  GetParam().scale(a, -2.0f, y, 3);
  EXPECT_THAT(y, testing::ElementsAre(-2.0f, 5.0f, -0.0f));
}

using Reference = std::function<double(double)>;

/// The largest error of `f` over [-range, range] in steps of range / 100000, as a part of `bound`
/// (in units in the last place, a function of x).
double worst_part(const std::function<void(const float*, float*, size_t)>& f,
                  const Reference& exact, const Reference& bound, float range) {
  constexpr int kSteps = 100000;
  std::vector<float> x, y(2 * kSteps + 1);
  for (int i = -kSteps; i <= kSteps; ++i) x.push_back(range * static_cast<float>(i) / kSteps);
  f(x.data(), y.data(), x.size());
  double worst = 0.0;
  for (size_t i = 0; i < x.size(); ++i) {
    worst = std::max(worst, ulp_error(y[i], exact(x[i])) / bound(x[i]));
  }
  return worst;
}

/// The same for a gate whose other input is one.
double worst_part(const ElementwiseRow& row, Activation activation, const Reference& exact,
                  const Reference& bound, float range) {
  const auto f = [&](const float* x, float* y, size_t n) {
    row.glu(activation, x, std::vector<float>(n, 1.0f).data(), y, n);
  };
  return worst_part(f, exact, bound, range);
}

double exact_silu(double g) { return g / (1.0 + std::exp(-g)); }
double twice_gelu_argument(double g) {
  return 2.0 * std::sqrt(2.0 / M_PI) * (g + 0.044715 * g * g * g);
}
/// With 1 + tanh(u) = 2 e^2u / (1 + e^2u), because in doubles too the left side cancels.
double exact_gelu(double g) {
  const double e = std::exp(twice_gelu_argument(g));
  return g * e / (1.0 + e);
}

TEST(ExactGelu, IsTheFormulaOfTheContract) {
  for (double g = -4.0; g < 8.0; g += 0.01) {
    EXPECT_NEAR(exact_gelu(g), 0.5 * g * (1.0 + std::tanh(twice_gelu_argument(g) / 2.0)), 1e-14);
  }
}

// Bounds count relative errors in u = 2^-24, the most that one rounding adds; a unit in the last
// place is at least u of the result. docs/numerics.md has the measured maxima.

/// e^-g (one unit in the last place, 2 u), its sum with 1, the quotient: 4 u.
TEST_P(Elementwise, SiluStaysWithinItsBound) {
  const auto bound = [](double) { return 4.0; };
  EXPECT_LE(worst_part(GetParam(), Activation::kSilu, exact_silu, bound, 80.0f), 1.0);
}

/// As silu, and e^v multiplies the relative error of v by |v|: u each for the constants, g^2, the
/// sum and the product.
TEST_P(Elementwise, GeluStaysWithinItsBound) {
  const auto bound = [](double g) { return 4.0 + 4.0 * std::fabs(twice_gelu_argument(g)); };
  EXPECT_LE(worst_part(GetParam(), Activation::kGeluTanh, exact_gelu, bound, 9.0f), 1.0);
}

TEST_P(Elementwise, Relu2IsRoundedOnce) {
  const auto exact = [](double g) { return g > 0 ? g * g : 0.0; };
  const auto bound = [](double) { return 0.5; };
  EXPECT_LE(worst_part(GetParam(), Activation::kRelu2, exact, bound, 80.0f), 1.0);
}

/// tanh (1.5 units in the last place, 3 u), whose argument's rounding counts at most once, and the
/// product: 5 u.
TEST_P(Elementwise, SoftcapStaysWithinItsBound) {
  for (const float cap : {30.0f, 50.0f}) {
    const auto f = [&](const float* x, float* y, size_t n) { GetParam().softcap(x, cap, y, n); };
    const auto exact = [cap](double a) { return cap * std::tanh(a / cap); };
    const auto bound = [](double) { return 5.0; };
    EXPECT_LE(worst_part(f, exact, bound, 20.0f * cap), 1.0) << cap;
  }
}

TEST_P(Elementwise, ActivationsHaveTheRightLimits) {
  const float gate[] = {0.0f, 1e30f, -1e30f, kInfinity, kNan};
  const float up[] = {2.0f, 2.0f, 2.0f, 2.0f, 2.0f};
  float y[5];
  for (const Activation activation : kActivations) {
    GetParam().glu(activation, gate, up, y, 5);
    EXPECT_EQ(y[0], 0.0f);
    EXPECT_EQ(y[1], activation == Activation::kRelu2 ? kInfinity : 2e30f);
    EXPECT_EQ(y[2], 0.0f);
    EXPECT_EQ(y[3], kInfinity);
    EXPECT_TRUE(std::isnan(y[4]));
  }
}

TEST_P(Elementwise, AllFiniteFindsOneBadElementAnywhere) {
  for (const size_t n : kLengths) {
    GuardedArray<float> a(n);
    std::fill(a.begin(), a.end(), -std::numeric_limits<float>::max());
    ASSERT_TRUE(GetParam().all_finite(a.data(), n)) << n;
    for (size_t i = 0; i<n; i += n> 100 ? 37 : 1) {
      for (const float bad : {kInfinity, -kInfinity, kNan, -kNan}) {
        const float kept = std::exchange(a[i], bad);
        ASSERT_FALSE(GetParam().all_finite(a.data(), n)) << n << " " << i;
        a[i] = kept;
      }
    }
  }
  EXPECT_TRUE(GetParam().all_finite(nullptr, 0));
}

TEST(SelectElementwise, TakesTheRowOfTheIsaOrOneBelow) {
  EXPECT_EQ(select_elementwise(Isa::kScalar).isa, Isa::kScalar);
  EXPECT_EQ(select_elementwise(Isa::kAvx512Vnni).isa, elementwise_rows().back().isa);
}

}  // namespace
}  // namespace tandem::kernels
