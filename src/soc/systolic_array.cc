// Folds of a matrix product over systolic arrays; docs/simulator.md derives the counts.

#include "soc/systolic_array.h"

#include <algorithm>
#include <cmath>

namespace tandem::soc {
namespace {

uint64_t ceil_div(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

struct Mapping {
  uint64_t on_rows;
  uint64_t on_columns;
  uint64_t streamed;
};

Mapping map_product(Dataflow dataflow, const Product& p) {
  switch (dataflow) {
    case Dataflow::kWeightStationary:
      return {p.k, p.n, p.m};
    case Dataflow::kInputStationary:
      return {p.k, p.m, p.n};
    case Dataflow::kOutputStationary:
      break;
  }
  return {p.m, p.n, p.k};
}

}  // namespace

FoldGrid fold_grid(const ArrayProfile& array, const Product& product, double passes) {
  const Mapping mapping = map_product(array.dataflow, product);
  FoldGrid out{};
  out.row_folds = ceil_div(mapping.on_rows, array.rows);
  out.column_folds = ceil_div(mapping.on_columns, array.columns);
  out.streamed = ceil_div(mapping.streamed, array.min_stream) * array.min_stream;
  // An element enters row 0 or column 0 in its cycle and takes rows - 1 and columns - 1 more to
  // cross; a stationary operand is loaded row by row before.
  const double load = array.dataflow == Dataflow::kOutputStationary
                          ? 0
                          : array.rows * array.load_cycles_per_row + array.rows;
  const double fill = array.dataflow == Dataflow::kOutputStationary ? array.rows : 0;
  const double skew = array.columns - 2.0;
  out.cycles_per_fold = passes * (double(out.streamed) + load + fill + skew);
  return out;
}

ArrayRun run_array(const ArrayProfile& array, const Product& product, double passes) {
  ArrayRun out;
  if (product.m == 0 || product.n == 0 || product.k == 0) return out;
  const FoldGrid grid = fold_grid(array, product, passes);
  const auto [m, n, k] = product;
  out.folds = grid.row_folds * grid.column_folds;
  out.cycles = static_cast<uint64_t>(
      std::ceil(double(ceil_div(out.folds, array.count)) * grid.cycles_per_fold));
  switch (array.dataflow) {
    case Dataflow::kWeightStationary:
      out.input_reads = m * k * grid.column_folds;
      out.filter_reads = k * n;
      out.output_writes = m * n * grid.row_folds;
      break;
    case Dataflow::kInputStationary:
      out.input_reads = m * k;
      out.filter_reads = n * k * grid.column_folds;
      out.output_writes = m * n * grid.row_folds;
      break;
    case Dataflow::kOutputStationary:
      out.input_reads = m * k * grid.column_folds;
      out.filter_reads = k * n * grid.row_folds;
      out.output_writes = m * n;
      break;
  }
  if (array.skewed_output_writes && array.dataflow == Dataflow::kOutputStationary) {
    out.output_writes += out.folds * (array.rows + array.columns);
  }
  return out;
}

std::optional<double> passes_for(const ArrayProfile& array, NumericType activations,
                                 NumericType weights) {
  const MacRate* best = nullptr;
  for (const MacRate& rate : array.rates) {
    if (rate.activations != activations || bits_of(rate.weights) < bits_of(weights)) continue;
    if (best == nullptr || bits_of(rate.weights) < bits_of(best->weights)) best = &rate;
  }
  if (best == nullptr) return std::nullopt;
  return best->passes;
}

}  // namespace tandem::soc
