#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/cpu_features.h"
#include "kernels/linear/linear.h"
#include "tensor/convert.h"

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

inline bool cpu_has(Isa isa) {
  static const CpuFeatures features = CpuFeatures::detect();
  if (isa == Isa::kAvx2) return features.avx2;
  if (isa == Isa::kAvx512Vnni) return features.avx512_vnni;
  return true;
}

/// Memory that ends at an inaccessible page.
class GuardedBytes {
 public:
  explicit GuardedBytes(size_t n_bytes) : n_bytes_(n_bytes) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t usable = (n_bytes + page - 1) / page * page;
    mapped_ = usable + page;
    void* start =
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    TANDEM_CHECK(start != MAP_FAILED);
    start_ = static_cast<std::byte*>(start);
    TANDEM_CHECK(mprotect(start_ + usable, page, PROT_NONE) == 0);
    data_ = start_ + usable - n_bytes;
  }
  ~GuardedBytes() { munmap(start_, mapped_); }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  std::byte* data() { return data_; }
  size_t size() const { return n_bytes_; }

 private:
  size_t n_bytes_, mapped_;
  std::byte* start_;
  std::byte* data_;
};

/// `n` elements that end at an inaccessible page.
template <class T>
class Guarded {
 public:
  explicit Guarded(size_t n) : bytes_(n * sizeof(T)), n_(n) {}
  T* data() { return reinterpret_cast<T*>(bytes_.data()); }
  T& operator[](size_t i) { return data()[i]; }
  size_t size() const { return n_; }
  std::span<T> span() { return {data(), n_}; }

 private:
  GuardedBytes bytes_;
  size_t n_;
};

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
  GuardedBytes bytes;
  PackedMatrix view;
  explicit GuardedMatrix(const FileMatrix& w)
      : bytes(packed_bytes(w.type, w.n, w.k)), view{w.type, w.n, w.k, bytes.data()} {
    pack_rows(w.type, w.bytes.data(), w.n, w.k, 0, w.n, bytes.data());
  }
};

}  // namespace tandem::kernels::testing
