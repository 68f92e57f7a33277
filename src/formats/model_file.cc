// What every opened model offers, whatever format it was read from.

#include "formats/model_file.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace tandem {

uint64_t TensorView::n_elements() const {
  uint64_t product = 1;
  for (const uint64_t dim : dims) product *= dim;
  return product;
}

std::string TensorView::shape_text() const { return fmt::format("[{}]", fmt::join(dims, ", ")); }

const TensorView* ModelFile::find(std::string_view name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const TensorView& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

uint64_t ModelFile::tensor_bytes() const {
  uint64_t total = 0;
  for (const TensorView& tensor : tensors) total += tensor.bytes.size();
  return total;
}

}  // namespace tandem
