// The table of architectures.

#include "model/architecture.h"

#include <array>
#include <string>

namespace tandem {
namespace {

constexpr auto kArchitectures = std::to_array<Architecture>({
    {"llama", build_llama},
    {"qwen2", build_qwen2},
    {"qwen3", build_qwen3},
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
