#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem {

/// An orthogonal matrix T of n rows that spreads every direction over many: random signs, then a
/// Hadamard matrix of the largest power of two that divides n in each of the blocks of that size.
class HadamardRotation {
 public:
  /// The same `n` and `seed` give the same T everywhere.
  HadamardRotation(size_t n, uint64_t seed);

  size_t size() const { return signs_.size(); }
  size_t block() const { return block_; }

  /// x (n) becomes T x.
  void rotate(float* x) const;
  /// A matrix (n, columns) becomes T times it; columns of it rotate.
  void rotate_columns(float* matrix, size_t columns) const;

 private:
  size_t block_;
  float factor_;  ///< 1 / sqrt(block)
  std::vector<float> signs_;
};

}  // namespace tandem
