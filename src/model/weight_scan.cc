// Looks for damaged numbers in a model file.

#include "model/weight_scan.h"

#include "tensor/convert.h"

namespace tandem {

Result<void> check_weights_finite(const ModelFile& file) {
  for (const TensorView& tensor : file.tensors) {
    if (!holds_weights(tensor.type) || tensor.n_elements() == 0) continue;
    const size_t n = tensor.dims[0];
    const size_t n_bytes = row_bytes(tensor.type, n);
    for (size_t row = 0; row < tensor.n_elements() / n; ++row) {
      const size_t bad = first_non_finite(tensor.type, tensor.bytes.data() + row * n_bytes, n);
      if (bad == n) continue;
      return failure(ErrorCode::kNumeric,
                     "{}: tensor {}: row {}, element {}: a {} that is NaN or infinite",
                     file.metadata.source(), tensor.name, row, bad,
                     is_quantized(tensor.type) ? "block scale" : "value");
    }
  }
  return {};
}

}  // namespace tandem
