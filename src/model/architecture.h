#pragma once

#include <span>
#include <string_view>

#include "base/result.h"

namespace tandem {

class GraphContext;

/// A family of models: the value of general.architecture and the wiring of its layers, one file of
/// arch/ each.
struct Architecture {
  std::string_view name;
  /// Appends every node to the context's builder and returns the value of the logits.
  Result<uint32_t> (*build)(GraphContext& context);
};

/// Every architecture of this build, by name.
std::span<const Architecture> architectures();

/// Errors: kUnsupported listing the known names.
Result<const Architecture*> find_architecture(std::string_view name);

Result<uint32_t> build_bitnet(GraphContext& context);
Result<uint32_t> build_gemma2(GraphContext& context);
Result<uint32_t> build_gemma3(GraphContext& context);
Result<uint32_t> build_llama(GraphContext& context);
Result<uint32_t> build_mistral3(GraphContext& context);
Result<uint32_t> build_phi3(GraphContext& context);
Result<uint32_t> build_qwen2(GraphContext& context);
Result<uint32_t> build_qwen3(GraphContext& context);
Result<uint32_t> build_smollm3(GraphContext& context);

}  // namespace tandem
