#include "synth/tensor_stream.h"

#include "tensor/convert.h"

namespace tandem {

TensorStream::TensorStream(int n_threads, FillRow fill_row)
    : pool_(n_threads), fill_row_(std::move(fill_row)) {}

TensorToWrite TensorStream::make(ListedTensor tensor, DType type) {
  TensorToWrite out{tensor.name, type, tensor.dims, {}};
  out.produce = [this, tensor = std::move(tensor), type] { return produce(tensor, type); };
  return out;
}

Result<std::span<const std::byte>> TensorStream::produce(const ListedTensor& tensor, DType type) {
  const size_t columns = tensor.dims[0];
  const size_t rows = tensor.dims.size() == 1 ? 1 : tensor.dims[1];
  const size_t stride = row_bytes(type, columns);
  bytes_.resize(rows * stride);
  std::vector<std::vector<float>> scratch(pool_.n_threads(), std::vector<float>(columns));
  pool_.parallel_for(rows, 16, [&](size_t begin, size_t end, int thread) {
    for (size_t row = begin; row < end; ++row) {
      fill_row_(tensor, row, scratch[thread]);
      encode_row(type, scratch[thread].data(), bytes_.data() + row * stride, columns);
    }
  });
  return std::span<const std::byte>(bytes_);
}

}  // namespace tandem
