// Rows of BitNet's ternary matrices.

#include "sources/huggingface/ternary_rows.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "tensor/convert.h"

namespace tandem {
namespace {

/// A type of 16 bits that holds a number exactly, else F32.
DType type_holding(float value) {
  for (const DType type : {DType::kBF16, DType::kF16}) {
    std::byte bytes[2];
    float back;
    encode_row(type, &value, bytes, 1);
    decode_row(type, bytes, &back, 1);
    if (back == value) return type;
  }
  return DType::kF32;
}

class PackedRows final : public RowReader {
 public:
  explicit PackedRows(PackedTernaryOptions options) : options_(std::move(options)) {
    const StoredTensor& packed = options_.packed;
    TANDEM_CHECK(packed.type == StoredType::kU8 && packed.shape.size() == 2);
  }

  Result<void> decode(uint64_t first_row, uint64_t n_rows, float* out) const override {
    const uint64_t n_stored = options_.packed.shape[0];
    const uint64_t k = row_length();
    for (uint64_t i = 0; i < n_rows; ++i, out += k) {
      const uint64_t row = options_.order.stored(first_row + i);
      const std::byte* bytes = options_.packed.bytes.data() + row % n_stored * k;
      const auto shift = static_cast<unsigned>(2 * (row / n_stored));
      for (uint64_t j = 0; j < k; ++j) {
        const unsigned code = static_cast<unsigned>(bytes[j]) >> shift & 3u;
        if (code == 3) {
          return failure(ErrorCode::kCorruptFile,
                         "row {}, column {}: packed value 3, must be 0 to 2", row, j);
        }
        out[j] = (static_cast<float>(code) - 1.0f) * options_.scale;
      }
    }
    return {};
  }

  DType exact_type() const override { return type_holding(options_.scale); }
  uint64_t row_length() const override { return options_.packed.shape[1]; }
  void release() const override { options_.packed.file->drop_pages(options_.packed.bytes); }

 private:
  PackedTernaryOptions options_;
};

class RoundedRows final : public RowReader {
 public:
  explicit RoundedRows(RoundedTernaryOptions options)
      : options_(std::move(options)), type_(*weight_type(options_.tensor.type)) {
    TANDEM_CHECK(options_.tensor.shape.size() == 2);
  }

  Result<void> decode(uint64_t first_row, uint64_t n_rows, float* out) const override {
    std::call_once(once_, [&] { measure(); });
    const uint64_t k = row_length();
    for (uint64_t i = 0; i < n_rows; ++i, out += k) {
      decode_row(type_, stored_row(options_.order.stored(first_row + i)), out, k);
      for (uint64_t j = 0; j < k; ++j) {
        out[j] = std::clamp(std::nearbyint(out[j] * inverse_), -1.0f, 1.0f) * scale_;
      }
    }
    return {};
  }

  DType exact_type() const override { return type_; }
  uint64_t row_length() const override { return options_.tensor.shape[1]; }
  void release() const override { options_.tensor.file->drop_pages(options_.tensor.bytes); }

 private:
  const std::byte* stored_row(uint64_t row) const {
    return options_.tensor.bytes.data() + row * row_bytes(type_, row_length());
  }

  void measure() const {
    constexpr double kLeast = 1e-5;
    std::vector<float> row(row_length());
    double sum = 0;
    for (uint64_t r = 0; r < options_.tensor.shape[0]; ++r) {
      decode_row(type_, stored_row(r), row.data(), row.size());
      for (const float value : row) sum += std::abs(value);
    }
    const double n = static_cast<double>(options_.tensor.shape[0] * row.size());
    inverse_ = 1.0f / static_cast<float>(std::max(sum / n, kLeast));
    const float exact = 1.0f / inverse_;
    std::byte bytes[4];
    encode_row(type_, &exact, bytes, 1);
    decode_row(type_, bytes, &scale_, 1);
  }

  RoundedTernaryOptions options_;
  DType type_;
  mutable std::once_flag once_;
  mutable float inverse_ = 0;
  mutable float scale_ = 0;
};

}  // namespace

std::unique_ptr<const RowReader> packed_ternary_rows(PackedTernaryOptions options) {
  return std::make_unique<const PackedRows>(std::move(options));
}

std::unique_ptr<const RowReader> rounded_ternary_rows(RoundedTernaryOptions options) {
  return std::make_unique<const RoundedRows>(std::move(options));
}

}  // namespace tandem
