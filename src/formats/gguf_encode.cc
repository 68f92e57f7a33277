// The front of a GGUF file as bytes: header, metadata, tensor table.

#include "formats/gguf_encode.h"

#include <limits>
#include <string_view>
#include <unordered_set>

#include "formats/gguf_format.h"
#include "formats/gguf_metadata.h"

namespace tandem {
namespace {

constexpr std::string_view kArchitectureKey = "general.architecture";
constexpr uint64_t kMaxDataBytes = std::numeric_limits<int64_t>::max();

Result<void> append_pair(std::string& out, const std::string& key, const MetadataValue& value) {
  const std::string problem = gguf_name_problem(key, kGgufMaxKeyBytes);
  if (!problem.empty()) {
    return failure(ErrorCode::kInvalidArgument, "key '{}': {}", key, problem);
  }
  if (const auto* nested = std::get_if<NestedArray>(&value)) {
    if (auto valid = check_nested_array(nested->encoded); !valid) {
      return tl::unexpected(valid.error().within(fmt::format("key '{}'", key)));
    }
  }
  append_gguf_string(out, key);
  append_gguf_value(out, value);
  return {};
}

Result<void> append_metadata(std::string& out, const Metadata& metadata) {
  // Readers look for the architecture first; llama.cpp's tools write it there.
  if (const MetadataValue* architecture = metadata.find(kArchitectureKey)) {
    TANDEM_TRY(append_pair(out, std::string(kArchitectureKey), *architecture));
  }
  for (const auto& [key, value] : metadata.entries()) {
    if (key == kArchitectureKey) continue;
    TANDEM_TRY(append_pair(out, key, value));
  }
  return {};
}

Result<uint32_t> alignment_of(const Metadata& metadata) {
  TANDEM_TRY(const uint32_t alignment, metadata.u32_or(kGgufAlignmentKey, kGgufDefaultAlignment));
  const std::string problem = gguf_alignment_problem(alignment);
  if (problem.empty()) return alignment;
  return failure(ErrorCode::kInvalidArgument, "{}", problem);
}

/// Appends one entry of the tensor table and returns the tensor's size.
Result<uint64_t> append_tensor(std::string& out, const TensorToWrite& tensor, uint64_t offset) {
  std::string problem = gguf_name_problem(tensor.name, kGgufMaxTensorNameBytes);
  const GgufTensorSize size = gguf_tensor_size(tensor.type, tensor.dims);
  if (problem.empty()) problem = size.problem;
  if (!problem.empty()) {
    return failure(ErrorCode::kInvalidArgument, "tensor '{}': {}", tensor.name, problem);
  }
  append_gguf_string(out, tensor.name);
  append_gguf_number(out, static_cast<uint32_t>(tensor.dims.size()));
  for (const uint64_t dim : tensor.dims) append_gguf_number(out, dim);
  append_gguf_number(out, tensor.type);
  append_gguf_number(out, offset);
  return size.n_bytes;
}

}  // namespace

Result<GgufPreamble> encode_gguf_preamble(const Metadata& metadata,
                                          std::span<const TensorToWrite> tensors) {
  GgufPreamble preamble;
  TANDEM_TRY(preamble.alignment, alignment_of(metadata));
  std::string& out = preamble.bytes;
  out = kGgufMagic;
  append_gguf_number(out, kGgufNewestVersion);
  append_gguf_number(out, uint64_t{tensors.size()});
  append_gguf_number(out, uint64_t{metadata.entries().size()});
  TANDEM_TRY(append_metadata(out, metadata));

  std::unordered_set<std::string_view> names;
  for (const TensorToWrite& tensor : tensors) {
    if (!names.insert(tensor.name).second) {
      return failure(ErrorCode::kInvalidArgument, "tensor '{}': two tensors have this name",
                     tensor.name);
    }
    TANDEM_TRY(const uint64_t n_bytes, append_tensor(out, tensor, preamble.n_data_bytes));
    // Each size is below 2^63 and so is the sum so far: neither step can wrap.
    preamble.n_data_bytes += gguf_align_up(n_bytes, preamble.alignment);
    if (preamble.n_data_bytes > kMaxDataBytes) {
      return failure(ErrorCode::kInvalidArgument,
                     "tensor '{}': the tensors so far take {} bytes, "
                     "the limit is {}",
                     tensor.name, preamble.n_data_bytes, kMaxDataBytes);
    }
  }
  out.resize(gguf_align_up(out.size(), preamble.alignment));
  return preamble;
}

}  // namespace tandem
