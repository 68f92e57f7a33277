#pragma once

#include <cstdint>

#include "soc/profile.h"

namespace tandem::soc {

/// A matrix product, or the part of it that one command computes: (M, K) x (K, N).
struct Product {
  uint64_t m;
  uint64_t n;
  uint64_t k;  ///< rows of the weight that hold values, when it is row-wise sparse
};

/// What computing a product on the arrays takes.
struct ArrayRun {
  uint64_t folds = 0;
  uint64_t cycles = 0;       ///< of the busiest array
  uint64_t input_reads = 0;  ///< elements from SRAM
  uint64_t filter_reads = 0;
  uint64_t output_writes = 0;  ///< partial sums included
};

/// How a product lies on the arrays. The stationary operand is cut into folds of rows x columns
/// elements; for each fold the array loads it, streams the other operand through it and drains.
///
///   dataflow            rows  columns  streamed
///   weight stationary   K     N        M
///   input stationary    K     M        N
///   output stationary   M     N        K
struct FoldGrid {
  uint64_t row_folds;
  uint64_t column_folds;
  uint64_t streamed;  ///< after rounding up to ArrayProfile::min_stream
  double cycles_per_fold;
};
FoldGrid fold_grid(const ArrayProfile& array, const Product& product, double passes);

/// Runs the product. Cutting it at multiples of the array's sizes changes no count (with one
/// array).
ArrayRun run_array(const ArrayProfile& array, const Product& product, double passes);

/// Passes for a pair of types: the profile's row, or that of wider weights. Nothing when the array
/// cannot compute it.
std::optional<double> passes_for(const ArrayProfile& array, NumericType activations,
                                 NumericType weights);

}  // namespace tandem::soc
