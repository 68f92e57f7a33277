#include "kernels/rope/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tests/support/guarded_array.h"
#include "tests/support/kernel_rows.h"

namespace tandem::kernels {
namespace {

using testing_support::GuardedArray;
using testing_support::kLengths;
using testing_support::runs_here;

struct Shape {
  size_t n_heads;
  size_t head_size;
  size_t n_rotated;
};

/// Heads for every number of pairs, fully and partially rotated.
std::vector<Shape> shapes() {
  std::vector<Shape> out;
  for (const size_t n_pairs : kLengths) {
    out.push_back({2, 2 * n_pairs, 2 * n_pairs});
    out.push_back({2, 2 * n_pairs + 5, 2 * n_pairs});
  }
  out.push_back({3, 64, 0});
  return out;
}

/// One token's heads with the angles position * theta^(-2p / n_rotated).
struct Problem {
  Problem(const Shape& shape, RopePairs pairs)
      : shape(shape),
        pairs(pairs),
        x(shape.n_heads * shape.head_size),
        cos(shape.n_rotated / 2),
        sin(shape.n_rotated / 2) {
    for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i * i % 1000));
    for (size_t p = 0; p < cos.size(); ++p) {
      const double angle = 1234.0 * std::pow(10000.0, -2.0 * static_cast<double>(p) /
                                                          static_cast<double>(shape.n_rotated));
      cos[p] = static_cast<float>(std::cos(angle));
      sin[p] = static_cast<float>(std::sin(angle));
    }
  }
  void run(RopeFn rope) {
    rope(
        {x.data(), cos.data(), sin.data(), shape.n_heads, shape.head_size, shape.n_rotated, pairs});
  }
  /// The elements of pair p of head h.
  std::pair<size_t, size_t> places(size_t h, size_t p) const {
    const size_t head = h * shape.head_size;
    if (pairs == RopePairs::kHalves) return {head + p, head + shape.n_rotated / 2 + p};
    return {head + 2 * p, head + 2 * p + 1};
  }

  Shape shape;
  RopePairs pairs;
  GuardedArray<float> x;
  GuardedArray<float> cos;
  GuardedArray<float> sin;
};

class Rope : public testing::TestWithParam<RopeRow> {
 protected:
  void SetUp() override {
    if (!runs_here(GetParam().isa)) {
      GTEST_SKIP() << "this processor lacks " << to_string(GetParam().isa);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Rows, Rope, testing::ValuesIn(rope_rows().begin(), rope_rows().end()),
                         [](const auto& param) { return std::string(param.param.name); });

/// Exact products and sums in double, then two roundings: of one product and of the result.
TEST_P(Rope, RotatesEveryPairAndNothingElse) {
  for (const RopePairs pairs : {RopePairs::kHalves, RopePairs::kAdjacent}) {
    for (const Shape& shape : shapes()) {
      Problem problem(shape, pairs);
      std::vector<double> expected(problem.x.begin(), problem.x.end());
      std::vector<double> size(expected.size(), 0.0);
      for (size_t h = 0; h < shape.n_heads; ++h) {
        for (size_t p = 0; p < shape.n_rotated / 2; ++p) {
          const auto [i, j] = problem.places(h, p);
          const double a = problem.x[i], b = problem.x[j];
          expected[i] = a * problem.cos[p] - b * problem.sin[p];
          expected[j] = a * problem.sin[p] + b * problem.cos[p];
          size[i] = size[j] = std::fabs(a) + std::fabs(b);
        }
      }
      problem.run(GetParam().run);
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(problem.x[i], expected[i], size[i] * 0x1p-23)
            << shape.head_size << " " << shape.n_rotated << " at " << i;
      }
    }
  }
}

TEST_P(Rope, GivesTheScalarBits) {
  for (const RopePairs pairs : {RopePairs::kHalves, RopePairs::kAdjacent}) {
    for (const Shape& shape : shapes()) {
      Problem expected(shape, pairs), actual(shape, pairs);
      expected.run(rope_rows()[0].run);
      actual.run(GetParam().run);
      ASSERT_EQ(std::memcmp(actual.x.data(), expected.x.data(), actual.x.size() * sizeof(float)), 0)
          << shape.head_size << " " << shape.n_rotated;
    }
  }
}

TEST(SelectRope, TakesTheRowOfTheIsaOrOneBelow) {
  EXPECT_EQ(select_rope(Isa::kScalar).isa, Isa::kScalar);
  EXPECT_EQ(select_rope(Isa::kAvx512Vnni).isa, rope_rows().back().isa);
}

}  // namespace
}  // namespace tandem::kernels
