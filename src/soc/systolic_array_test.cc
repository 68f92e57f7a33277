// The array's counts against a machine that moves every operand in every cycle, and the published
// effects of Hexagon's arrays.

#include "soc/systolic_array.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "soc/profile_reader.h"

namespace tandem::soc {
namespace {

struct Matrix {
  Matrix(uint64_t rows, uint64_t columns) : columns(columns), values(rows * columns) {}
  int64_t& at(uint64_t r, uint64_t c) { return values[r * columns + c]; }
  uint64_t columns;
  std::vector<int64_t> values;
};

Matrix random_matrix(uint64_t rows, uint64_t columns, std::mt19937& random) {
  Matrix out(rows, columns);
  for (int64_t& v : out.values) v = static_cast<int>(random() % 17) - 8;
  return out;
}

/// What a cycle-by-cycle machine counted.
struct Counted {
  uint64_t cycles = 0;
  uint64_t stationary_reads = 0;
  uint64_t streamed_reads = 0;
  uint64_t output_writes = 0;
};

/// One fold with a stationary operand: S (rows x columns) stays, rows of X (t x rows) enter from
/// the left, one later in each row; sums flow down and leave at the bottom. Y += X S.
void run_stationary_fold(uint32_t rows, uint32_t columns, Matrix& x, Matrix& s, Matrix& y,
                         uint64_t first_k, uint64_t first_n, uint64_t t, uint64_t k, uint64_t n,
                         Counted& out) {
  const uint64_t used_rows = std::min<uint64_t>(rows, k - first_k);
  const uint64_t used_columns = std::min<uint64_t>(columns, n - first_n);
  Matrix cell(rows, columns), moving(rows, columns), sum(rows, columns);
  for (uint32_t r = 0; r < rows; ++r) {  // a row of the stationary operand each cycle
    for (uint32_t c = 0; c < columns && r < used_rows; ++c) {
      if (c >= used_columns) continue;
      cell.at(r, c) = s.at(first_k + r, first_n + c);
      ++out.stationary_reads;
    }
    ++out.cycles;
  }
  uint64_t left = t * columns;  // sums that have not left the bottom row, edge columns included
  for (uint64_t cycle = 0; left > 0; ++cycle) {
    Matrix next_moving(rows, columns), next_sum(rows, columns);
    for (uint32_t r = 0; r < rows; ++r) {
      for (uint32_t c = 0; c < columns; ++c) {
        int64_t operand = 0;
        if (c > 0) {
          operand = moving.at(r, c - 1);
        } else if (cycle >= r && cycle - r < t && r < used_rows) {
          operand = x.at(cycle - r, first_k + r);
          ++out.streamed_reads;
        }
        next_moving.at(r, c) = operand;
        next_sum.at(r, c) = (r > 0 ? sum.at(r - 1, c) : 0) + operand * cell.at(r, c);
      }
    }
    moving = next_moving;
    sum = next_sum;
    for (uint32_t c = 0; c < columns; ++c) {
      const uint64_t entered = uint64_t{rows} - 1 + c;
      if (cycle < entered || cycle - entered >= t) continue;
      --left;
      if (c >= used_columns) continue;
      y.at(cycle - entered, first_n + c) += sum.at(rows - 1, c);
      ++out.output_writes;
    }
    ++out.cycles;
  }
}

/// One fold with stationary outputs: X (m x k) enters from the left, W (k x n) from above.
void run_output_fold(uint32_t rows, uint32_t columns, Matrix& x, Matrix& w, Matrix& y,
                     uint64_t first_m, uint64_t first_n, uint64_t m, uint64_t k, uint64_t n,
                     Counted& out) {
  Matrix right(rows, columns), down(rows, columns), sum(rows, columns);
  uint64_t left = k * rows * columns;  // steps of all cells, edge cells included
  for (uint64_t cycle = 0; left > 0; ++cycle) {
    Matrix next_right(rows, columns), next_down(rows, columns);
    for (uint32_t r = 0; r < rows; ++r) {
      for (uint32_t c = 0; c < columns; ++c) {
        const bool active = cycle >= r + c && cycle - r - c < k;
        int64_t a = c > 0 ? right.at(r, c - 1) : 0;
        int64_t b = r > 0 ? down.at(r - 1, c) : 0;
        if (c == 0 && active && first_m + r < m) {
          a = x.at(first_m + r, cycle - r);
          ++out.streamed_reads;
        }
        if (r == 0 && active && first_n + c < n) {
          b = w.at(cycle - c, first_n + c);
          ++out.stationary_reads;
        }
        sum.at(r, c) += a * b;
        next_right.at(r, c) = a;
        next_down.at(r, c) = b;
        if (active) --left;
      }
    }
    right = next_right;
    down = next_down;
    ++out.cycles;
  }
  for (uint32_t r = 0; r < rows && first_m + r < m; ++r) {
    for (uint32_t c = 0; c < columns && first_n + c < n; ++c) {
      y.at(first_m + r, first_n + c) = sum.at(r, c);
      ++out.output_writes;
    }
  }
}

Matrix transposed(Matrix& a, uint64_t rows, uint64_t columns) {
  Matrix out(columns, rows);
  for (uint64_t r = 0; r < rows; ++r) {
    for (uint64_t c = 0; c < columns; ++c) out.at(c, r) = a.at(r, c);
  }
  return out;
}

/// All folds of X (m x k) W (k x n) on one array; checks the product.
Counted run_slowly(const ArrayProfile& array, const Product& p, std::mt19937& random) {
  Matrix x = random_matrix(p.m, p.k, random);
  Matrix w = random_matrix(p.k, p.n, random);
  Matrix y(p.m, p.n);
  Counted out;
  if (array.dataflow == Dataflow::kOutputStationary) {
    for (uint64_t m = 0; m < p.m; m += array.rows) {
      for (uint64_t n = 0; n < p.n; n += array.columns) {
        run_output_fold(array.rows, array.columns, x, w, y, m, n, p.m, p.k, p.n, out);
      }
    }
  } else {
    const bool weights_stay = array.dataflow == Dataflow::kWeightStationary;
    Matrix stream = weights_stay ? x : transposed(w, p.k, p.n);
    Matrix stay = weights_stay ? w : transposed(x, p.m, p.k);
    const uint64_t t = weights_stay ? p.m : p.n;
    const uint64_t across = weights_stay ? p.n : p.m;
    Matrix result(t, across);
    for (uint64_t k = 0; k < p.k; k += array.rows) {
      for (uint64_t n = 0; n < across; n += array.columns) {
        run_stationary_fold(array.rows, array.columns, stream, stay, result, k, n, t, p.k, across,
                            out);
      }
    }
    y = weights_stay ? result : transposed(result, t, across);
  }
  for (uint64_t m = 0; m < p.m; ++m) {
    for (uint64_t n = 0; n < p.n; ++n) {
      int64_t expected = 0;
      for (uint64_t k = 0; k < p.k; ++k) expected += x.at(m, k) * w.at(k, n);
      EXPECT_EQ(y.at(m, n), expected);
    }
  }
  return out;
}

class SystolicArray : public testing::TestWithParam<Dataflow> {};

TEST_P(SystolicArray, CountsEqualAMachineThatMovesEveryOperand) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    ArrayProfile array;
    array.rows = 1 + random() % 5;
    array.columns = 1 + random() % 5;
    array.dataflow = GetParam();
    const Product p{1 + random() % 12, 1 + random() % 12, 1 + random() % 12};
    const Counted slow = run_slowly(array, p, random);
    const ArrayRun run = run_array(array, p, 1);
    SCOPED_TRACE(testing::Message() << "m " << p.m << " n " << p.n << " k " << p.k << " array "
                                    << array.rows << " x " << array.columns);
    EXPECT_EQ(run.cycles, slow.cycles);
    EXPECT_EQ(run.output_writes, slow.output_writes);
    const bool inputs_stay = GetParam() == Dataflow::kInputStationary;
    EXPECT_EQ(run.filter_reads, inputs_stay ? slow.streamed_reads : slow.stationary_reads);
    EXPECT_EQ(run.input_reads, inputs_stay ? slow.stationary_reads : slow.streamed_reads);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SystolicArray,
                         testing::Values(Dataflow::kWeightStationary, Dataflow::kInputStationary,
                                         Dataflow::kOutputStationary));

TEST(SystolicArrays, ShareFoldsAndRepeatPasses) {
  ArrayProfile array;
  array.rows = array.columns = 4;
  const Product p{8, 16, 16};  // 16 folds
  const uint64_t one = run_array(array, p, 1).cycles;
  EXPECT_EQ(run_array(array, p, 2).cycles, 2 * one);
  array.count = 4;
  EXPECT_EQ(run_array(array, p, 1).cycles, one / 4);
  array.count = 5;  // the busiest still has four
  EXPECT_EQ(run_array(array, p, 1).cycles, one / 4);
}

TEST(SystolicArrays, PassesFallBackToWiderWeights) {
  ArrayProfile array;
  array.rates = {{NumericType::kInt8, NumericType::kInt8, 1},
                 {NumericType::kInt16, NumericType::kInt8, 2}};
  EXPECT_EQ(passes_for(array, NumericType::kInt8, NumericType::kInt4), 1);
  EXPECT_EQ(passes_for(array, NumericType::kInt16, NumericType::kInt4), 2);
  EXPECT_FALSE(passes_for(array, NumericType::kInt8, NumericType::kInt16));
  EXPECT_FALSE(passes_for(array, NumericType::kFp16, NumericType::kFp16));
}

ArrayProfile hexagon() {
  const auto soc = find_profile("snapdragon-8-gen-3");
  EXPECT_TRUE(soc) << soc.error().message;
  return soc->npus[0].array;
}

// HeteroInfer (arXiv 2501.14794), NPU-1: "any dimension below 32 costs the same".
TEST(Hexagon, ADimensionBelow32CostsTheSame) {
  const ArrayProfile array = hexagon();
  const uint64_t full = run_array(array, {32, 4096, 4096}, 1).cycles;
  for (const uint64_t below : {1, 7, 31}) {
    EXPECT_EQ(run_array(array, {below, 4096, 4096}, 1).cycles, full);
    EXPECT_EQ(run_array(array, {4096, below, 4096}, 1).cycles,
              run_array(array, {4096, 32, 4096}, 1).cycles);
    EXPECT_EQ(run_array(array, {4096, 4096, below}, 1).cycles,
              run_array(array, {4096, 4096, 32}, 1).cycles);
  }
  EXPECT_GT(run_array(array, {33, 4096, 4096}, 1).cycles, full);
}

// HeteroInfer, NPU-2: [14336, 4096] x [4096, K] is six times faster than [K, 4096] x [4096, 14336].
TEST(Hexagon, TheOrderOfOperandsCountsSixfold) {
  const ArrayProfile array = hexagon();
  const double small_stays = double(run_array(array, {14336, 32, 4096}, 1).cycles);
  const double large_stays = double(run_array(array, {32, 14336, 4096}, 1).cycles);
  EXPECT_NEAR(large_stays / small_stays, 6, 0.5);
}

}  // namespace
}  // namespace tandem::soc
