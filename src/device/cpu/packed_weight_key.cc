#include "device/cpu/packed_weight_key.h"

#include <algorithm>

#include "base/hash.h"
#include "tensor/nested_tensor.h"

namespace tandem {
namespace {

/// Of docs/packed_weights.md; another layout is another version, so that older entries are left
/// alone.
constexpr const char* kLayout = "1";

/// A few samples of the bytes: reading all would take as long as packing them.
uint64_t sampled_hash(std::span<const std::byte> bytes) {
  constexpr size_t kSamples = 16, kSampleBytes = 256;
  uint64_t hash = content_hash(bytes.last(std::min(bytes.size(), kSampleBytes)), bytes.size());
  for (size_t i = 0; i < kSamples; ++i) {
    const size_t first = bytes.size() / kSamples * i;
    hash = content_hash(bytes.subspan(first, std::min(kSampleBytes, bytes.size() - first)), hash);
  }
  return hash;
}

}  // namespace

CompileKey packed_key(const Weight& weight, WeightPlane plane) {
  const MappedFile& file = *weight.file;
  CompileKey key{{"layout", kLayout},
                 {"tensor", weight.name},
                 {"type", std::string(name(weight.type))},
                 {"rows", std::to_string(weight.rows)},
                 {"columns", std::to_string(weight.columns)},
                 {"file bytes", std::to_string(file.bytes().size())},
                 {"file time", std::to_string(file.modified_ns())},
                 {"offset", std::to_string(weight.bytes.data() - file.bytes().data())},
                 {"samples", fmt::format("{:016x}", sampled_hash(weight.bytes))},
                 {"plane", plane == WeightPlane::kHigh ? "high" : "low"}};
  if (plane == WeightPlane::kLow) {
    key.push_back({"shift", std::to_string(weight.nested->shift)});
    key.push_back({"first row", std::to_string(weight.first_nested_row)});
    key.push_back({"low samples", fmt::format("{:016x}", sampled_hash(weight.nested->low))});
  }
  return key;
}

}  // namespace tandem
