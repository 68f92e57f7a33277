// Both planes against Q8_0 with the same values, to the bit: an arithmetic that is tested by
// itself.

#include "kernels/linear/nested.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/linear/nested_testing.h"
#include "tensor/nested_tensor.h"

namespace tandem::kernels {
namespace {

using testing::GuardedActivations;
using testing::GuardedNested;
using testing::NestedMatrix;

struct Case {
  NestedMatrix file;
  GuardedNested w;
  testing::GuardedMatrix q8;
  size_t m;
  GuardedActivations xq;
  std::vector<float> bias;

  Case(uint32_t shift, size_t m_rows, size_t n, size_t k, uint32_t seed)
      : file(testing::random_nested(n, k, shift, seed)),
        w(file),
        q8(testing::as_q8_0(file)),
        m(m_rows),
        xq(m_rows, k),
        bias(testing::normal_values(n, seed + 1)) {
    const std::vector<float> x = testing::activations_with_outliers(m, k, seed + 2);
    quantize_rows()[0].run({x.data(), k * sizeof(float), m, k, xq.get()});
  }

  std::vector<float> run(LinearFn f, const PackedMatrix& matrix) {
    testing::Guarded<float> y(m * matrix.n);
    std::fill_n(y.data(), y.size(), 1e30f);
    f({.w = matrix,
       .x = nullptr,
       .x_stride = 0,
       .xq = xq.get(),
       .bias = bias.data(),
       .y = y.data(),
       .y_stride = matrix.n * sizeof(float),
       .m = m,
       .n_begin = 0,
       .n_end = matrix.n});
    return {y.data(), y.data() + y.size()};
  }
  std::vector<float> expected() {
    return run(select_linear(Isa::kScalar, DType::kQ8_0)->run, q8.view);
  }
};

class NestedRows : public ::testing::TestWithParam<LinearRow> {
 protected:
  void SetUp() override {
    if (!testing::runs_here(GetParam().isa)) GTEST_SKIP() << to_string(GetParam().isa);
  }
  void expect_q8_0(uint32_t shift, size_t m, size_t n, size_t k) {
    SCOPED_TRACE(::testing::Message() << "e " << shift << " m " << m << " n " << n << " k " << k);
    Case c(shift, m, n, k, 7 * m + n + k);
    const std::vector<float> actual = c.run(GetParam().run, c.w.view), expected = c.expected();
    for (size_t i = 0; i < actual.size(); ++i) ASSERT_EQ(actual[i], expected[i]) << i;
  }
};

TEST_P(NestedRows, EqualQ8_0ToTheBitForEveryBatch) {
  for (const uint32_t shift : {3, 4}) {
    for (const size_t m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 17}) expect_q8_0(shift, m, 48, 96);
  }
}

TEST_P(NestedRows, EqualQ8_0ToTheBitForEveryShape) {
  for (const uint32_t shift : {3, 4}) {
    for (const size_t n : {1, 15, 16, 17, 100}) expect_q8_0(shift, 3, n, 32);
    for (size_t groups = 1; groups < 20; ++groups) expect_q8_0(shift, 9, 32, 32 * groups);
    expect_q8_0(shift, 70, 32, 1280);
  }
}

TEST_P(NestedRows, SplitsOfTheOutputsGiveTheSame) {
  Case c(4, 5, 100, 256, 3);
  const std::vector<float> whole = c.run(GetParam().run, c.w.view);
  std::vector<float> parts(500, -7.0f);
  for (const auto& [begin, end] : {std::pair<size_t, size_t>{16, 64}, {64, 100}}) {
    GetParam().run({.w = c.w.view,
                    .x = nullptr,
                    .x_stride = 0,
                    .xq = c.xq.get(),
                    .bias = c.bias.data(),
                    .y = parts.data(),
                    .y_stride = 400,
                    .m = 5,
                    .n_begin = begin,
                    .n_end = end});
  }
  for (size_t i = 0; i < 500; ++i) ASSERT_EQ(parts[i], i % 100 < 16 ? -7.0f : whole[i]);
}

TEST_P(NestedRows, NonFiniteActivationsReachEveryOutput) {
  Case c(4, 1, 16, 64, 4);
  c.xq.scales[1] = std::numeric_limits<float>::quiet_NaN();
  for (const float y : c.run(GetParam().run, c.w.view)) EXPECT_FALSE(std::isfinite(y));
}

/// The largest sums there are: every code at an extreme, every activation at 127 of one sign.
TEST_P(NestedRows, ExtremeCodesDoNotOverflow) {
  for (const uint32_t shift : {3, 4}) {
    Case c(shift, 2, 16, 64, 5);
    for (size_t g = 0; g < 32; ++g) {
      std::byte* block = c.file.high.bytes.data() + g * sizeof(BlockQ4_0);
      std::fill_n(block + 2, 16, g % 2 ? std::byte{0x00} : std::byte{0xff});
      const std::byte lowest = shift == 4 ? std::byte{0x88} : std::byte{0x00};
      std::fill_n(c.file.low.begin() + g * 16, 16, g % 2 ? lowest : std::byte{0xff});
    }
    const GuardedNested w(c.file);
    const testing::GuardedMatrix q8(testing::as_q8_0(c.file));
    std::fill_n(c.xq.codes.data(), 64, int8_t{127});
    std::fill_n(c.xq.codes.data() + 64, 64, int8_t{-127});
    for (int i = 0; i < 8; ++i) c.xq.sums[i] = static_cast<int16_t>(i < 4 ? 2032 : -2032);
    EXPECT_EQ(c.run(GetParam().run, w.view),
              c.run(select_linear(Isa::kScalar, DType::kQ8_0)->run, q8.view));
  }
}

INSTANTIATE_TEST_SUITE_P(Table, NestedRows,
                         ::testing::ValuesIn(nested_rows().begin(), nested_rows().end()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Nested, UnpacksToTheFilesValues) {
  for (const uint32_t shift : {3, 4}) {
    const NestedMatrix file = testing::random_nested(37, 96, shift, 11);
    const GuardedNested packed(file);
    for (size_t row = 0; row < 37; ++row) {
      std::vector<float> actual(96), expected(96);
      unpack_nested_row(packed.view, row, actual.data());
      decode_nested_row(file.high_row(row), file.low_row(row), 96, shift, expected.data());
      EXPECT_EQ(actual, expected);
      EXPECT_EQ(testing::as_q8_0(file).row(row), expected);
    }
  }
}

TEST(Nested, PackingRangesOfRowsMakesTheSameBytes) {
  const NestedMatrix file = testing::random_nested(75, 64, 4, 12);
  const size_t n_bytes = packed_low_bytes(75, 64);
  EXPECT_EQ(n_bytes, 80u * 32);
  std::vector<std::byte> whole(n_bytes, std::byte{0x55}), parts(n_bytes, std::byte{0xaa});
  pack_low_rows(file.low.data(), 75, 64, 0, 75, whole.data());
  pack_low_rows(file.low.data(), 75, 64, 48, 75, parts.data());
  pack_low_rows(file.low.data(), 75, 64, 0, 48, parts.data());
  EXPECT_EQ(whole, parts);
}

/// Channels at 60 times the rms cost no more than with Q8_0 activations (see linear_test.cc).
TEST(Nested, OutlierChannelsCostNoMoreThanQ8Activations) {
  constexpr size_t kM = 4, kN = 64, kK = 1024;
  const NestedMatrix file = testing::random_nested(kN, kK, 4, 13);
  const GuardedNested w(file);
  const std::vector<float> x = testing::activations_with_outliers(kM, kK, 21);
  GuardedActivations xq(kM, kK);
  quantize_rows()[0].run({x.data(), kK * sizeof(float), kM, kK, xq.get()});
  std::vector<float> y(kM * kN), x_q8(kM * kK);
  select_nested(Isa::kScalar)
      .run({.w = w.view,
            .x = nullptr,
            .x_stride = 0,
            .xq = xq.get(),
            .bias = nullptr,
            .y = y.data(),
            .y_stride = kN * sizeof(float),
            .m = kM,
            .n_begin = 0,
            .n_end = kN});
  std::vector<std::byte> blocks(row_bytes(DType::kQ8_0, kM * kK));
  encode_row(DType::kQ8_0, x.data(), blocks.data(), kM * kK);
  decode_row(DType::kQ8_0, blocks.data(), x_q8.data(), kM * kK);
  double ours = 0, theirs = 0;
  for (size_t n = 0; n < kN; ++n) {
    std::vector<float> row(kK);
    decode_nested_row(file.high_row(n), file.low_row(n), kK, 4, row.data());
    for (size_t m = 0; m < kM; ++m) {
      double exact = 0, q8 = 0;
      for (size_t i = 0; i < kK; ++i) {
        exact += static_cast<double>(row[i]) * x[m * kK + i];
        q8 += static_cast<double>(row[i]) * x_q8[m * kK + i];
      }
      ours += std::pow(y[m * kN + n] - exact, 2);
      theirs += std::pow(q8 - exact, 2);
    }
  }
  EXPECT_LT(std::sqrt(ours), 1.5 * std::sqrt(theirs));
  EXPECT_GT(ours, 0.0);
}

}  // namespace
}  // namespace tandem::kernels
