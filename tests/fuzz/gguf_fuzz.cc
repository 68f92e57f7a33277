// Any bytes either are refused with an error or open as a model that the writer can write again.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "formats/gguf_encode.h"
#include "formats/gguf_reader.h"

namespace {

using namespace tandem;

std::vector<TensorToWrite> to_write(const ModelFile& model) {
  std::vector<TensorToWrite> tensors;
  for (const TensorView& tensor : model.tensors) {
    tensors.push_back({tensor.name, tensor.type, tensor.dims, {}});
  }
  return tensors;
}

/// Reads every byte that the model exposes, for the address sanitizer to watch.
uint64_t sum_of_tensors(const ModelFile& model) {
  uint64_t sum = 0;
  for (const TensorView& tensor : model.tensors) {
    for (const std::byte b : tensor.bytes) sum += static_cast<uint8_t>(b);
  }
  return sum;
}

Result<ModelFile> parse(std::span<const std::byte> bytes) {
  return parse_gguf(MappedFile::view("fuzz.gguf", bytes));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto model = parse(std::as_bytes(std::span(data, size)));
  if (!model) {
    TANDEM_CHECK(model.error().message.starts_with("fuzz.gguf: "));
    return 0;
  }
  [[maybe_unused]] static volatile uint64_t sink;
  sink = sum_of_tensors(*model);

  const auto tensors = to_write(*model);
  const auto first = encode_gguf_preamble(model->metadata, tensors);
  TANDEM_CHECK(first.has_value());
  // The tensors' contents do not matter here, only that there are as many bytes.
  std::string file = first->bytes;
  file.resize(file.size() + first->n_data_bytes);
  const auto again = parse(std::as_bytes(std::span(file)));
  TANDEM_CHECK(again.has_value());
  const auto second = encode_gguf_preamble(again->metadata, to_write(*again));
  TANDEM_CHECK(second.has_value() && second->bytes == first->bytes);
  return 0;
}
