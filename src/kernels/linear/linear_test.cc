// Every row against the scalar one, to the bit but where it rounds activations, and the scalar one
// against double precision.

#include "kernels/linear/linear.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/linear/linear_testing.h"

namespace tandem::kernels {
namespace {

using testing::FileMatrix;
using testing::Guarded;
using testing::GuardedActivations;
using testing::GuardedMatrix;

/// Activations in both forms, outputs and everything a call needs; each array ends at a guard page.
struct Case {
  FileMatrix file;
  GuardedMatrix w;
  size_t m;
  Guarded<float> x;
  GuardedActivations xq;
  std::vector<float> bias;

  Case(DType type, size_t m_rows, size_t n, size_t k, uint32_t seed)
      : file(testing::normal_matrix(type, n, k, seed)),
        w(file),
        m(m_rows),
        x(m_rows * k),
        xq(m_rows, uses_quantized_activations(type) ? k : 0),
        bias(testing::normal_values(n, seed + 1)) {
    const std::vector<float> values = testing::activations_with_outliers(m, k, seed + 2);
    std::copy(values.begin(), values.end(), x.data());
    if (!uses_quantized_activations(type)) return;
    quantize_rows()[0].run({x.data(), k * sizeof(float), m, k, xq.get()});
  }

  LinearArgs args(float* y, size_t y_stride_floats) {
    return {.w = w.view,
            .x = x.data(),
            .x_stride = file.k * sizeof(float),
            .xq = xq.get(),
            .bias = bias.data(),
            .y = y,
            .y_stride = y_stride_floats * sizeof(float),
            .m = m,
            .n_begin = 0,
            .n_end = file.n};
  }

  std::vector<float> run(LinearFn f) {
    Guarded<float> y(m * file.n);
    std::fill_n(y.data(), y.size(), 1e30f);
    f(args(y.data(), file.n));
    return {y.data(), y.data() + y.size()};
  }
};

void expect_same_bits(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  ASSERT_FALSE(std::any_of(expected.begin(), expected.end(), [](float y) { return y == 1e30f; }));
  if (std::memcmp(actual.data(), expected.data(), actual.size() * sizeof(float)) == 0) return;
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_EQ(actual[i], expected[i]) << "output " << i << " of " << actual.size();
  }
}

/// Whether a row over float activations rounds them to bf16 (kernels.inc).
bool rounds_to_bf16(const LinearRow& row) {
  return row.type == DType::kBF16 && row.isa >= Isa::kAvx512Bf16;
}

LinearFn scalar_row(DType type) { return select_linear(Isa::kScalar, type)->run; }

class LinearRows : public ::testing::TestWithParam<LinearRow> {
 protected:
  void SetUp() override {
    if (!testing::runs_here(GetParam().isa)) GTEST_SKIP() << to_string(GetParam().isa);
  }
  DType type() const { return GetParam().type; }

  void expect_scalar_result(Case& c) const {
    const std::vector<float> actual = c.run(GetParam().run), expected = c.run(scalar_row(type()));
    if (!rounds_to_bf16(GetParam())) return expect_same_bits(actual, expected);
    // Rounding to eight bits moves an activation by 2^-8 of it at most, each of the k + 2 sums of
    // either row by 2^-24.
    const double relative = 0x1p-8 + 2.0 * (c.file.k + 2) * 0x1p-24;
    for (size_t n = 0; n < c.file.n; ++n) {
      const std::vector<float> w = c.file.row(n);
      for (size_t m = 0; m < c.m; ++m) {
        double terms = std::fabs(c.bias[n]);
        for (size_t i = 0; i < c.file.k; ++i)
          terms += std::fabs(w[i] * c.x.data()[m * c.file.k + i]);
        ASSERT_NEAR(actual[m * c.file.n + n], expected[m * c.file.n + n], relative * terms)
            << "token " << m << ", output " << n;
      }
    }
  }
  size_t block() const { return info(type()).block_size; }
};
/// The rows that have something to be compared with.
class VectorRows : public LinearRows {};

TEST_P(VectorRows, EqualsScalarForEveryBatch) {
  for (const size_t m : {1, 2, 3, 4, 5, 7, 8, 16, 33}) {
    SCOPED_TRACE(m);
    Case c(type(), m, 48, 3 * std::max<size_t>(block(), 32), 10);
    expect_scalar_result(c);
  }
}

TEST_P(VectorRows, EqualsScalarForOddOutputs) {
  for (const size_t n : {1, 15, 16, 17, 100}) {
    for (const size_t m : {3, 13}) {
      SCOPED_TRACE(::testing::Message() << m << " rows, " << n << " outputs");
      Case c(type(), m, n, std::max<size_t>(block(), 32), 11);
      expect_scalar_result(c);
    }
  }
}

TEST_P(VectorRows, EqualsScalarForEveryDepth) {
  const size_t step = block() == 1 ? 7 : block();
  for (size_t blocks = 1; blocks < 20; blocks += block() == 256 ? 5 : 1) {
    SCOPED_TRACE(blocks);
    Case c(type(), 9, 32, blocks * step, 12);
    expect_scalar_result(c);
  }
}

TEST_P(VectorRows, EqualsScalarBeyondItsCacheBlocks) {
  Case c(type(), 70, 32, 1280, 13);
  expect_scalar_result(c);
  if (block() == 1) return;
  Case deep(type(), 17, 16, 32 << 10, 13);
  expect_scalar_result(deep);
}

TEST_P(LinearRows, ARowDoesNotDependOnItsNeighbours) {
  Case all(type(), 33, 32, 1024, 14);
  const std::vector<float> together = all.run(GetParam().run);
  for (const size_t m : {0, 6, 31, 32}) {
    std::vector<float> alone(32);
    LinearArgs args = all.args(alone.data(), 32);
    args.m = 1;
    args.x += m * 1024;
    args.xq = {args.xq.codes + m * 1024, args.xq.scales + m * 32, args.xq.sums + m * 64};
    GetParam().run(args);
    EXPECT_EQ(std::memcmp(alone.data(), &together[m * 32], sizeof(float) * 32), 0) << m;
  }
}

TEST_P(LinearRows, AnySplitOfTheOutputsGivesTheSameAndTouchesNothingElse) {
  constexpr size_t kN = 100, kK = 512;
  Case c(type(), 5, kN, kK, 15);
  const std::vector<float> whole = c.run(GetParam().run);
  std::vector<float> parts(5 * kN, -7.0f);
  LinearArgs args = c.args(parts.data(), kN);
  const size_t cuts[] = {16, 64, kN};
  for (int i = 0; i < 2; ++i) {
    args.n_begin = cuts[i];
    args.n_end = cuts[i + 1];
    GetParam().run(args);
  }
  for (size_t m = 0; m < 5; ++m) {
    for (size_t n = 0; n < kN; ++n) {
      ASSERT_EQ(parts[m * kN + n], n < 16 ? -7.0f : whole[m * kN + n]);
    }
  }
}

TEST_P(VectorRows, TakesMisalignedRowsAndNoBias) {
  constexpr size_t kN = 33, kK = 256, kM = 6;
  Case c(type(), kM, kN, kK, 16);
  // Four bytes off any wider alignment, rows 5 and 3 floats further apart than they are long.
  std::vector<float> x(kM * (kK + 5) + 1);
  for (size_t m = 0; m < kM; ++m) std::copy_n(&c.x[m * kK], kK, &x[1 + m * (kK + 5)]);
  std::vector<int8_t> codes(kM * kK + 3);
  if (uses_quantized_activations(type())) std::copy_n(c.xq.codes.data(), kM * kK, codes.data() + 3);
  const auto run = [&](LinearFn f) {
    std::vector<float> y(kM * (kN + 3) + 1);
    LinearArgs args = c.args(y.data() + 1, kN + 3);
    args.x = x.data() + 1;
    args.x_stride = (kK + 5) * sizeof(float);
    args.xq.codes = codes.data() + 3;
    args.bias = nullptr;
    f(args);
    return y;
  };
  c.bias.assign(kN, 0.0f);
  const std::vector<float> y = run(GetParam().run), aligned = c.run(GetParam().run);
  for (size_t m = 0; m < kM; ++m) {
    for (size_t n = 0; n < kN + 3; ++n) {
      ASSERT_EQ(y[1 + m * (kN + 3) + n], n < kN ? aligned[m * kN + n] : 0.0f) << m << " " << n;
    }
  }
}

TEST_P(LinearRows, NonFiniteActivationsReachEveryOutput) {
  Case c(type(), 2, 16, 256, 17);
  c.x[256 + 40] = std::numeric_limits<float>::infinity();
  if (uses_quantized_activations(type()))
    quantize_rows()[0].run({c.x.data(), 1024, 2, 256, c.xq.get()});
  const std::vector<float> y = c.run(GetParam().run);
  for (size_t n = 0; n < 16; ++n) {
    EXPECT_TRUE(std::isfinite(y[n]));
    EXPECT_FALSE(std::isfinite(y[16 + n]));
  }
}

std::vector<LinearRow> vector_rows() {
  std::vector<LinearRow> rows;
  for (const LinearRow& row : linear_rows()) {
    if (row.isa != Isa::kScalar) rows.push_back(row);
  }
  return rows;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(VectorRows);
INSTANTIATE_TEST_SUITE_P(Table, VectorRows, ::testing::ValuesIn(vector_rows()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Table, LinearRows,
                         ::testing::ValuesIn(linear_rows().begin(), linear_rows().end()),
                         [](const auto& info) { return std::string(info.param.name); });

class LinearReference : public ::testing::TestWithParam<DType> {};

/// Activations as the kernel reads them.
std::vector<double> read_activations(Case& c) {
  const size_t n = c.m * c.file.k;
  std::vector<double> x(n);
  for (size_t i = 0; i < n; ++i) {
    x[i] = uses_quantized_activations(c.file.type)
               ? static_cast<double>(c.xq.scales[i / 32]) * c.xq.codes[i]
               : c.x[i];
  }
  return x;
}

TEST_P(LinearReference, ScalarIsWithinTheRoundingBoundOfDoublePrecision) {
  constexpr size_t kM = 4, kN = 33, kK = 1024;
  Case c(GetParam(), kM, kN, kK, 20);
  const std::vector<float> y = c.run(scalar_row(GetParam()));
  const std::vector<double> x = read_activations(c);
  // A quantized output takes two roundings (product of scales, accumulation) for each group of 32,
  // twice that with minima; a float output one for each element; then the bias.
  const bool quantized = uses_quantized_activations(GetParam());
  const double n_roundings = quantized ? 4.0 * kK / 32 + 4 : kK + 1.0;
  for (size_t n = 0; n < kN; ++n) {
    const std::vector<float> w = c.file.row(n);
    for (size_t m = 0; m < kM; ++m) {
      double sum = c.bias[n], terms = std::fabs(c.bias[n]);
      for (size_t g = 0; g < kK; g += 32) {
        // Codes and minimum of a group are each at most twice its largest weight, so that the sums
        // they enter with are at most four times what this adds.
        double largest = 0;
        for (size_t i = g; i < g + 32; ++i) largest = std::max<double>(largest, std::fabs(w[i]));
        for (size_t i = g; i < g + 32; ++i) {
          sum += w[i] * x[m * kK + i];
          terms += (quantized ? 4 * largest : std::fabs(w[i])) * std::fabs(x[m * kK + i]);
        }
      }
      ASSERT_NEAR(y[m * kN + n], sum, n_roundings * 0x1p-24 * terms) << m << " " << n;
    }
  }
}

double squared_error(const std::vector<double>& reference, const std::vector<double>& other) {
  double sum = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    sum += (reference[i] - other[i]) * (reference[i] - other[i]);
  }
  return sum;
}

/// W x in double precision.
std::vector<double> exact_outputs(const FileMatrix& w, const std::vector<float>& x, size_t m) {
  std::vector<double> y(m * w.n);
  for (size_t n = 0; n < w.n; ++n) {
    const std::vector<float> row = w.row(n);
    for (size_t r = 0; r < m; ++r) {
      for (size_t i = 0; i < w.k; ++i)
        y[r * w.n + n] += static_cast<double>(row[i]) * x[r * w.k + i];
    }
  }
  return y;
}

TEST_P(LinearReference, OutlierChannelsCostNoMoreThanQ8Activations) {
  if (!uses_quantized_activations(GetParam())) GTEST_SKIP() << "float activations";
  constexpr size_t kM = 4, kN = 64, kK = 1024;
  Case c(GetParam(), kM, kN, kK, 21);
  std::fill(c.bias.begin(), c.bias.end(), 0.0f);
  const std::vector<float> x(c.x.data(), c.x.data() + kM * kK);
  std::vector<float> x_q8(kM * kK);
  std::vector<std::byte> blocks(row_bytes(DType::kQ8_0, kM * kK));
  encode_row(DType::kQ8_0, x.data(), blocks.data(), kM * kK);
  decode_row(DType::kQ8_0, blocks.data(), x_q8.data(), kM * kK);

  const std::vector<double> exact = exact_outputs(c.file, x, kM);
  const std::vector<float> y = c.run(scalar_row(GetParam()));
  const double ours = squared_error(exact, {y.begin(), y.end()});
  const double theirs = squared_error(exact, exact_outputs(c.file, x_q8, kM));
  EXPECT_LT(std::sqrt(ours), 1.5 * std::sqrt(theirs));
  EXPECT_GT(ours, 0.0);
}

INSTANTIATE_TEST_SUITE_P(AllTypes, LinearReference, ::testing::ValuesIn(testing::weight_types()),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(LinearTable, EveryWeightTypeHasARowOnEveryIsa) {
  for (const DType type : testing::weight_types()) {
    for (int isa = 0; isa < kIsaCount; ++isa) {
      const LinearRow* row = select_linear(static_cast<Isa>(isa), type);
      ASSERT_NE(row, nullptr) << name(type);
      EXPECT_EQ(row->type, type);
#if TANDEM_KERNELS_X86
      const bool has_amx = type == DType::kBF16 || (uses_quantized_activations(type) &&
                                                    type != DType::kQ2_0 && type != DType::kQ4_24);
      Isa expected = static_cast<Isa>(isa);
      if (expected == Isa::kAmx && !has_amx) expected = Isa::kAvx512Bf16;
      if (expected == Isa::kAvx512Bf16 && type != DType::kBF16) expected = Isa::kAvx512Vnni;
      EXPECT_EQ(row->isa, expected) << row->name;
#else
      EXPECT_EQ(row->isa, Isa::kScalar) << row->name;
#endif
      EXPECT_NE(std::string(row->name).find(to_string(row->isa)), std::string::npos) << row->name;
    }
  }
  EXPECT_EQ(select_linear(Isa::kAvx512Vnni, DType::kI32), nullptr);
}

}  // namespace
}  // namespace tandem::kernels
