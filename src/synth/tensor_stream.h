#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "formats/gguf_writer.h"
#include "synth/tensor_list.h"

namespace tandem {

/// Makes the bytes of one tensor after another for the GGUF writer: floats row by row, encoded on
/// all threads into one buffer that all tensors share.
class TensorStream {
 public:
  using FillRow =
      std::function<void(const ListedTensor& tensor, uint64_t row, std::span<float> out)>;

  TensorStream(int n_threads, FillRow fill_row);

  /// Valid as long as this stream.
  TensorToWrite make(ListedTensor tensor, DType type);

 private:
  Result<std::span<const std::byte>> produce(const ListedTensor& tensor, DType type);

  ThreadPool pool_;
  FillRow fill_row_;
  std::vector<std::byte> bytes_;
};

}  // namespace tandem
