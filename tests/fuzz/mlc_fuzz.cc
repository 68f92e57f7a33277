// A text, a zero byte and a shard: as a tensor cache it either is refused or its arrays lie inside
// the shard; as a chat configuration it either is refused or comes back in config.json's words.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/check.h"
#include "sources/huggingface/model_config.h"
#include "sources/mlc/mlc_source.h"
#include "sources/mlc/tensor_cache.h"

namespace {

using namespace tandem;

void read_cache(const JsonConfig& cache, std::span<const std::byte> shard) {
  const auto tensors = read_tensor_cache(cache, [&](const std::string& name) {
    return Result<std::shared_ptr<const MappedFile>>(MappedFile::view(name, shard));
  });
  if (!tensors) return;
  [[maybe_unused]] static volatile uint64_t sink;
  for (const StoredTensor& tensor : *tensors) {
    for (const std::byte b : tensor.bytes) sink = sink + static_cast<uint8_t>(b);
    const auto wanted = stored_bytes(tensor.type, tensor.shape);
    TANDEM_CHECK(wanted.has_value() && *wanted == tensor.bytes.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const uint8_t* end = std::find(data, data + size, 0);
  const std::string_view text(reinterpret_cast<const char*>(data), static_cast<size_t>(end - data));
  const auto config = JsonConfig::parse("mlc.json", text);
  if (!config) return 0;
  const uint8_t* shard = end == data + size ? end : end + 1;
  read_cache(*config, std::as_bytes(std::span(shard, data + size)));
  const auto model = mlc_model_config(*config);
  if (!model) return 0;
  Metadata metadata("mlc.json");
  (void)read_model_config(*model, metadata);
  return 0;
}
