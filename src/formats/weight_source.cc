// What every source of weights shares: shapes and the check of what a caller asks for.

#include "formats/weight_source.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "tensor/convert.h"

namespace tandem {

uint64_t SourceTensor::n_rows() const {
  uint64_t product = 1;
  for (size_t i = 1; i < dims.size(); ++i) product *= dims[i];
  return product;
}

std::string SourceTensor::shape_text() const { return fmt::format("[{}]", fmt::join(dims, ", ")); }

std::optional<size_t> WeightSource::find(std::string_view name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [&](const SourceTensor& tensor) { return tensor.name == name; });
  if (found == tensors_.end()) return std::nullopt;
  return static_cast<size_t>(found - tensors_.begin());
}

Result<void> WeightSource::check_rows(size_t index, uint64_t first_row, uint64_t n_rows) const {
  if (index >= tensors_.size()) {
    return failure(ErrorCode::kInvalidArgument, "{}: tensor {} of {}", metadata_.source(), index,
                   tensors_.size());
  }
  const uint64_t total = tensors_[index].n_rows();
  if (first_row <= total && n_rows <= total - first_row) return {};
  return failure(ErrorCode::kInvalidArgument, "{}: {} rows from row {} of tensor {}, which has {}",
                 metadata_.source(), n_rows, first_row, tensors_[index].name, total);
}

Result<void> WeightSource::read_rows(size_t index, uint64_t first_row, uint64_t n_rows,
                                     float* out) const {
  TANDEM_TRY(check_rows(index, first_row, n_rows));
  const SourceTensor& tensor = tensors_[index];
  if (!holds_weights(tensor.exact_type)) {
    return failure(ErrorCode::kUnsupported, "{}: tensor {} is {}, which holds no weights",
                   metadata_.source(), tensor.name, tandem::name(tensor.exact_type));
  }
  return decode(index, first_row, n_rows, out);
}

Result<void> WeightSource::read_exact(size_t index, uint64_t first_row, uint64_t n_rows,
                                      std::byte* out) const {
  TANDEM_TRY(check_rows(index, first_row, n_rows));
  return encode(index, first_row, n_rows, out);
}

}  // namespace tandem
