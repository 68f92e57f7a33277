#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa.h"

namespace tandem::kernels {

/// Which elements of a head form a rotated pair.
enum class RopePairs : uint8_t {
  kHalves,    ///< (i, i + n_rotated / 2): GPT-NeoX, Qwen, Gemma, Phi
  kAdjacent,  ///< (2i, 2i + 1): Llama files as GGUF stores them
};

/// Rotates in place, for each head h and pair p with elements (a, b):
///   a' = a cos[p] - b sin[p],   b' = a sin[p] + b cos[p]
/// computed as fma(a, cos, -(b sin)) and fma(a, sin, b cos). Elements from n_rotated on stay.
struct RopeArgs {
  float* x;          ///< (n_heads, head_size) of one token, contiguous
  const float* cos;  ///< (n_rotated / 2), for the token's position
  const float* sin;  ///< (n_rotated / 2)
  size_t n_heads;
  size_t head_size;
  size_t n_rotated;  ///< even, at most head_size
  RopePairs pairs;
};
using RopeFn = void (*)(const RopeArgs&) noexcept;

struct RopeRow {
  Isa isa;
  const char* name;
  RopeFn run;
};
std::span<const RopeRow> rope_rows();
const RopeRow& select_rope(Isa isa);

}  // namespace tandem::kernels
