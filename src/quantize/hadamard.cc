#include "quantize/hadamard.h"

#include <cmath>

#include "base/hash.h"

namespace tandem {
namespace {

size_t largest_power_of_two_in(size_t n) { return n == 0 ? 1 : n & (~n + 1); }

}  // namespace

HadamardRotation::HadamardRotation(size_t n, uint64_t seed)
    : block_(largest_power_of_two_in(n)),
      factor_(1.0f / std::sqrt(static_cast<float>(block_))),
      signs_(n) {
  for (size_t i = 0; i < n; ++i) {
    const uint64_t key = i;
    const uint64_t bits = content_hash(std::as_bytes(std::span(&key, 1)), seed);
    signs_[i] = bits & 1 ? 1.0f : -1.0f;
  }
}

void HadamardRotation::rotate(float* x) const { rotate_columns(x, 1); }

void HadamardRotation::rotate_columns(float* matrix, size_t columns) const {
  for (size_t i = 0; i < size(); ++i) {
    for (size_t j = 0; j < columns; ++j) matrix[i * columns + j] *= signs_[i] * factor_;
  }
  for (size_t half = 1; half < block_; half *= 2) {
    for (size_t first = 0; first < size(); first += 2 * half) {
      for (size_t i = first; i < first + half; ++i) {
        float* a = matrix + i * columns;
        float* b = matrix + (i + half) * columns;
        for (size_t j = 0; j < columns; ++j) {
          const float sum = a[j] + b[j];
          b[j] = a[j] - b[j];
          a[j] = sum;
        }
      }
    }
  }
}

}  // namespace tandem
