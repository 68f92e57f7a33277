// Any bytes either are refused with an error or are a safetensors file whose tensors cover its
// data.

#include <cstdint>
#include <span>

#include "base/check.h"
#include "sources/safetensors/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tandem;
  const auto file = MappedFile::view("fuzz.safetensors", std::as_bytes(std::span(data, size)));
  const auto tensors = parse_safetensors(file);
  if (!tensors) {
    TANDEM_CHECK(tensors.error().message.starts_with("fuzz.safetensors: "));
    return 0;
  }
  [[maybe_unused]] static volatile uint64_t sink;
  uint64_t sum = 0;
  size_t n_bytes = 0;
  for (const StoredTensor& tensor : *tensors) {
    for (const std::byte b : tensor.bytes) sum += static_cast<uint8_t>(b);
    n_bytes += tensor.bytes.size();
    const auto wanted = stored_bytes(tensor.type, tensor.shape);
    TANDEM_CHECK(wanted.has_value() && *wanted == tensor.bytes.size());
  }
  TANDEM_CHECK(n_bytes + 8 <= size);
  sink = sum;
  return 0;
}
