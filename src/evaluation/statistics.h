#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tandem {

struct Interval {
  double low = 0;
  double high = 0;
};

/// A figure with its uncertainty: a standard error and a 95 % confidence interval.
struct Measured {
  double value = 0;
  double standard_error = 0;
  Interval interval = {};
};

/// 95 % confidence interval of a share (E. B. Wilson 1927). (0, 1) when n is 0.
Interval wilson_interval(uint64_t right, uint64_t n);

/// Two-sided exact p-value that two runs differ, from the numbers of items that only one of them
/// answered right (Q. McNemar 1947, binomial form).
double mcnemar_p_value(uint64_t only_first, uint64_t only_second);

/// 95 % confidence interval of the difference of two paired shares, first minus second, over `n`
/// items (D. G. Bonett, R. M. Price 2012: Wald's interval after adding half an item to each count).
Interval paired_difference_interval(uint64_t only_first, uint64_t only_second, uint64_t n);

/// The value below which the share `q` of the values lies, linear between neighbours; reorders
/// `values`, which must not be empty.
double quantile(std::span<double> values, double q);

struct BootstrapOptions {
  /// Consecutive values that are drawn together; 0: a hundredth of them, at most 256.
  size_t block = 0;
  size_t n_resamples = 1000;
  uint64_t seed = 1;
};

/// Uncertainty of figures over a sequence whose neighbours depend on each other, such as the tokens
/// of a text. The sequence is cut into consecutive blocks. The standard error of a mean comes from
/// the block means (batch means); an interval is the middle 95 % of the figure over sequences drawn
/// from the blocks with replacement (H. R. Kuensch 1989, blocks that do not overlap). The same
/// options give the same draws. Immutable, thread safe.
class BlockBootstrap {
 public:
  explicit BlockBootstrap(size_t n_values, const BootstrapOptions& options = {});

  size_t block() const { return block_; }
  size_t n_blocks() const { return n_blocks_; }

  /// f(mean of `values`); the standard error is carried over by f's slope there. One value for each
  /// that was announced.
  using Function = std::function<double(double)>;
  Measured mean(std::span<const double> values, const Function& f = {}) const;

  /// A quantile; its standard error is the spread over the draws.
  Measured quantile(std::span<const double> values, double q) const;

 private:
  size_t size_of(size_t b) const;

  size_t n_values_;
  size_t block_;
  size_t n_blocks_;
  BootstrapOptions options_;
};

}  // namespace tandem
