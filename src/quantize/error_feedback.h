#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"

namespace tandem {

/// Quantizes rows so that each weight's error is made good by the weights that follow (GPTQ,
/// Frantar et al., arXiv 2210.17323), for inputs whose second moments are known. Columns are taken
/// by falling importance; scales are fixed before, so that the order is free.
class ErrorFeedback {
 public:
  /// `moments` (columns, columns): sums of x x^T over the calibration rows, symmetric; destroyed.
  /// Errors: kNumeric when it has no inverse even with 1 % of its mean diagonal added.
  static Result<ErrorFeedback> create(std::vector<float> moments, size_t columns, ThreadPool& pool);

  /// Both planes at e = 3 of `n_rows` rows of `w` (n_rows, columns): first h with feedback, at most
  /// so far from w that l can still reach it; then l with feedback of its own. `low` may be null:
  /// then h is free, for a plain Q4_0 tensor.
  void encode_rows(const float* w, size_t n_rows, std::byte* high, std::byte* low) const;

  /// Q4_24 rows: what is pruned is decided by squared weight times importance before; the weights
  /// that follow make good for it as for any rounding error (Frantar and Alistarh, arXiv
  /// 2301.00774, with the mask held).
  void encode_pruned_rows(const float* w, size_t n_rows, std::byte* out) const;

  size_t columns() const { return order_.size(); }

 private:
  struct Rows;
  Rows start_rows(const float* w, size_t n_rows, bool has_low) const;
  void restart(Rows& rows) const;
  void quantize_high(Rows& rows) const;
  void quantize_low(Rows& rows) const;
  void spread(Rows& rows, size_t step) const;

  std::vector<uint32_t> order_;    ///< column of each step
  std::vector<float> importance_;  ///< (columns) diagonal of the moments
  std::vector<float> share_;       ///< (columns, columns), upper: how step i's error moves step j
};

}  // namespace tandem
