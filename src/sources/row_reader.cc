// Rows of plain numbers, and the source that is made of row readers.

#include "sources/row_reader.h"

#include <cmath>
#include <cstring>

#include "base/check.h"
#include "tensor/convert.h"

namespace tandem {
namespace {

/// FP8 as NVIDIA, Arm and Intel define it (arXiv 2209.05433): E4M3 has no infinities and one NaN.
float f8_e4m3_to_f32(uint8_t code) {
  const float sign = (code & 0x80) != 0 ? -1.0f : 1.0f;
  const int exponent = code >> 3 & 0xf;
  const auto mantissa = static_cast<float>(code & 7);
  if ((code & 0x7f) == 0x7f) return std::nanf("");
  if (exponent == 0) return sign * std::ldexp(mantissa, -9);
  return sign * std::ldexp(8.0f + mantissa, exponent - 10);
}

float f8_e5m2_to_f32(uint8_t code) {
  const float sign = (code & 0x80) != 0 ? -1.0f : 1.0f;
  const int exponent = code >> 2 & 0x1f;
  const auto mantissa = static_cast<float>(code & 3);
  if (exponent == 31) return mantissa == 0 ? sign * INFINITY : std::nanf("");
  if (exponent == 0) return sign * std::ldexp(mantissa, -16);
  return sign * std::ldexp(4.0f + mantissa, exponent - 17);
}

template <class T>
void decode_each(const std::byte* row, float* out, uint64_t n, float (*convert)(T)) {
  for (uint64_t i = 0; i < n; ++i, row += sizeof(T)) {
    T value;
    std::memcpy(&value, row, sizeof value);
    out[i] = convert(value);
  }
}

void decode_plain(StoredType type, const std::byte* row, float* out, uint64_t n) {
  switch (type) {
    case StoredType::kF64:
      return decode_each<double>(row, out, n, [](double v) { return static_cast<float>(v); });
    case StoredType::kF8E4M3:
      return decode_each<uint8_t>(row, out, n, f8_e4m3_to_f32);
    case StoredType::kF8E5M2:
      return decode_each<uint8_t>(row, out, n, f8_e5m2_to_f32);
    case StoredType::kI8:
      return decode_each<int8_t>(row, out, n, [](int8_t v) { return static_cast<float>(v); });
    default:
      decode_row(*weight_type(type), row, out, n);
  }
}

/// The smallest of F16, BF16 and F32 that holds every value of a type. F64 is rounded to F32, the
/// widest a GGUF weight can be.
DType exact_type_of(StoredType type, float addend) {
  if (addend != 0) return DType::kF32;
  switch (type) {
    case StoredType::kF16:
    case StoredType::kF8E4M3:
    case StoredType::kF8E5M2:
    case StoredType::kI8:
      return DType::kF16;
    case StoredType::kBF16:
      return DType::kBF16;
    default:
      return DType::kF32;
  }
}

class PlainRows final : public RowReader {
 public:
  explicit PlainRows(PlainRowsOptions options)
      : options_(std::move(options)),
        stride_(options_.row_length * info(options_.tensor.type).n_bytes),
        exact_type_(exact_type_of(options_.tensor.type, options_.addend)) {
    const RowOrder& order = options_.order;
    TANDEM_CHECK(has_plain_rows(options_.tensor.type));
    TANDEM_CHECK(order.head_rows % 2 == 0 &&
                 (order.in_order() || options_.n_rows % order.head_rows == 0));
    TANDEM_CHECK((order.first + options_.n_rows) * stride_ <= options_.tensor.bytes.size());
  }

  Result<void> decode(uint64_t first_row, uint64_t n_rows, float* out) const override {
    const uint64_t k = options_.row_length;
    for (uint64_t i = 0; i < n_rows; ++i, out += k) {
      decode_plain(options_.tensor.type, row(first_row + i), out, k);
      if (options_.addend != 0) {
        for (uint64_t j = 0; j < k; ++j) out[j] += options_.addend;
      }
    }
    return {};
  }

  Result<void> encode(uint64_t first_row, uint64_t n_rows, std::byte* out) const override {
    if (!copies()) return RowReader::encode(first_row, n_rows, out);
    for (uint64_t i = 0; i < n_rows; ++i, out += stride_) {
      std::memcpy(out, row(first_row + i), stride_);
    }
    return {};
  }

  DType exact_type() const override { return exact_type_; }
  uint64_t row_length() const override { return options_.row_length; }

  std::optional<MappedBytes> mapped() const override {
    if (!copies() || !options_.order.in_order()) return std::nullopt;
    const auto bytes =
        options_.tensor.bytes.subspan(options_.order.first * stride_, options_.n_rows * stride_);
    // Kernels read elements in place; the formats themselves align nothing.
    const bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % 8 == 0;
    if (!aligned) return std::nullopt;
    return MappedBytes{bytes, options_.tensor.file};
  }

  void release() const override { options_.tensor.file->drop_pages(options_.tensor.bytes); }

 private:
  bool copies() const {
    return weight_type(options_.tensor.type) == exact_type_ && options_.addend == 0;
  }
  const std::byte* row(uint64_t row) const {
    return options_.tensor.bytes.data() + options_.order.stored(row) * stride_;
  }

  PlainRowsOptions options_;
  uint64_t stride_;  ///< bytes of a stored row
  DType exact_type_;
};

class ComputedRow final : public RowReader {
 public:
  explicit ComputedRow(std::vector<float> values) : values_(std::move(values)) {}

  Result<void> decode(uint64_t, uint64_t n_rows, float* out) const override {
    if (n_rows != 0) std::memcpy(out, values_.data(), values_.size() * sizeof(float));
    return {};
  }
  DType exact_type() const override { return DType::kF32; }
  uint64_t row_length() const override { return values_.size(); }
  void release() const override {}

 private:
  std::vector<float> values_;
};

class CompositeSource final : public WeightSource {
 public:
  CompositeSource(Metadata metadata, std::string format, std::vector<TensorWithRows> tensors) {
    metadata_ = std::move(metadata);
    format_ = std::move(format);
    for (TensorWithRows& item : tensors) {
      item.tensor.exact_type = item.rows->exact_type();
      tensors_.push_back(std::move(item.tensor));
      rows_.push_back(std::move(item.rows));
    }
  }

  std::optional<MappedBytes> mapped(size_t index) const override { return rows_[index]->mapped(); }
  void release(size_t index) const override { rows_[index]->release(); }

 protected:
  Result<void> decode(size_t index, uint64_t first_row, uint64_t n_rows,
                      float* out) const override {
    return named(index, rows_[index]->decode(first_row, n_rows, out));
  }
  Result<void> encode(size_t index, uint64_t first_row, uint64_t n_rows,
                      std::byte* out) const override {
    return named(index, rows_[index]->encode(first_row, n_rows, out));
  }

 private:
  Result<void> named(size_t index, Result<void> result) const {
    if (result) return result;
    const std::string where =
        fmt::format("{}: tensor {}", metadata_.source(), tensors_[index].stored_name);
    return tl::unexpected(result.error().within(where));
  }

  std::vector<std::unique_ptr<const RowReader>> rows_;
};

}  // namespace

Result<void> RowReader::encode(uint64_t first_row, uint64_t n_rows, std::byte* out) const {
  std::vector<float> row(row_length());
  const size_t stride = row_bytes(exact_type(), row_length());
  for (uint64_t i = 0; i < n_rows; ++i, out += stride) {
    TANDEM_TRY(decode(first_row + i, 1, row.data()));
    encode_row(exact_type(), row.data(), out, row.size());
  }
  return {};
}

bool has_plain_rows(StoredType type) {
  switch (type) {
    case StoredType::kF64:
    case StoredType::kF32:
    case StoredType::kF16:
    case StoredType::kBF16:
    case StoredType::kF8E4M3:
    case StoredType::kF8E5M2:
    case StoredType::kI8:
      return true;
    default:
      return false;
  }
}

std::unique_ptr<const RowReader> plain_rows(PlainRowsOptions options) {
  return std::make_unique<const PlainRows>(std::move(options));
}

std::unique_ptr<const RowReader> computed_row(std::vector<float> values) {
  return std::make_unique<const ComputedRow>(std::move(values));
}

std::unique_ptr<const WeightSource> make_composite_source(Metadata metadata, std::string format,
                                                          std::vector<TensorWithRows> tensors) {
  return std::make_unique<const CompositeSource>(std::move(metadata), std::move(format),
                                                 std::move(tensors));
}

}  // namespace tandem
