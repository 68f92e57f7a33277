// The table of architectures.

#include "model/architecture.h"

#include <array>
#include <string>

namespace tandem {
namespace {

constexpr auto kArchitectures = std::to_array<Architecture>({
    {"bitnet", build_bitnet},
    {"gemma2", build_gemma2},
    {"gemma3", build_gemma3},
    {"llama", build_llama},
    {"mistral3", build_mistral3},
    {"phi3", build_phi3},
    {"qwen2", build_qwen2},
    {"qwen3", build_qwen3},
    {"smollm3", build_smollm3},
});

}  // namespace

std::span<const Architecture> architectures() { return kArchitectures; }

Result<const Architecture*> find_architecture(std::string_view name) {
  std::string known;
  for (const Architecture& a : kArchitectures) {
    if (a.name == name) return &a;
    known += (known.empty() ? "" : ", ") + std::string(a.name);
  }
  return failure(ErrorCode::kUnsupported,
                 "general.architecture is \"{}\", which is not known; known are {}", name, known);
}

}  // namespace tandem
