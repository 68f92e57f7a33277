#pragma once

#include <cstring>
#include <random>
#include <vector>

#include "kernels/linear/linear.h"
#include "tensor/convert.h"
#include "tests/support/guarded_array.h"
#include "tests/support/kernel_rows.h"

// Data for the tests and benchmarks of this folder.

namespace tandem::kernels::testing {

inline const std::vector<DType>& weight_types() {
  static const std::vector<DType> types = [] {
    std::vector<DType> all;
    for (const DTypeInfo& i : all_dtypes()) {
      if (holds_weights(i.type)) all.push_back(i.type);
    }
    return all;
  }();
  return types;
}

using testing_support::runs_here;
template <class T>
using Guarded = testing_support::GuardedArray<T>;

/// Codes, scales and sums of `m` rows, each array before an inaccessible page.
struct GuardedActivations {
  Guarded<int8_t> codes;
  Guarded<float> scales;
  Guarded<int16_t> sums;
  GuardedActivations(size_t m, size_t k) : codes(m * k), scales(m * k / 32), sums(m * k / 16) {}
  QuantizedActivations get() { return {codes.data(), scales.data(), sums.data()}; }
};

inline std::vector<float> normal_values(size_t n, uint32_t seed, float sigma = 1.0f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, sigma);
  std::vector<float> out(n);
  for (float& x : out) x = normal(random);
  return out;
}

/// Normal activations of which every 97th channel is at 60 times the rms.
inline std::vector<float> activations_with_outliers(size_t m, size_t k, uint32_t seed) {
  std::vector<float> out = normal_values(m * k, seed);
  for (size_t row = 0; row < m; ++row) {
    for (size_t i = 5; i < k; i += 97) out[row * k + i] *= 60.0f;
  }
  return out;
}

/// A matrix in file layout.
struct FileMatrix {
  DType type;
  size_t n, k;
  std::vector<std::byte> bytes;

  std::vector<float> row(size_t i) const {
    std::vector<float> out(k);
    decode_row(type, bytes.data() + i * row_bytes(type, k), out.data(), k);
    return out;
  }
};

/// Encoded normal weights.
inline FileMatrix normal_matrix(DType type, size_t n, size_t k, uint32_t seed) {
  FileMatrix out{type, n, k, std::vector<std::byte>(n * row_bytes(type, k))};
  for (size_t row = 0; row < n; ++row) {
    const std::vector<float> w = normal_values(k, seed + static_cast<uint32_t>(row), 0.05f);
    encode_row(type, w.data(), out.bytes.data() + row * row_bytes(type, k), k);
  }
  return out;
}

/// Any bit pattern: every code and scale occurs, infinities and NaN too.
inline FileMatrix random_bytes_matrix(DType type, size_t n, size_t k, uint32_t seed) {
  FileMatrix out{type, n, k, std::vector<std::byte>(n * row_bytes(type, k))};
  std::mt19937 random(seed);
  for (std::byte& b : out.bytes) b = static_cast<std::byte>(random());
  return out;
}

/// A packed matrix whose last byte lies before an inaccessible page.
struct GuardedMatrix {
  Guarded<std::byte> bytes;
  PackedMatrix view;
  explicit GuardedMatrix(const FileMatrix& w)
      : bytes(packed_bytes(w.type, w.n, w.k)), view{w.type, w.n, w.k, bytes.data()} {
    pack_rows(w.type, w.bytes.data(), w.n, w.k, 0, w.n, bytes.data());
  }
};

}  // namespace tandem::kernels::testing
