#pragma once

#include <cstdint>
#include <functional>

#include "graph/graph.h"

namespace tandem {

/// How a linear takes its activations; docs/npu_sim.md gives the formulas.
enum class LinearArithmetic : uint8_t {
  kGroups,       ///< int8 codes in groups of 32 for quantized weights, else f32
  kInt16Rows,    ///< 16-bit codes, one scale a row, for quantized weights
  kInt8Static,   ///< 8-bit codes, one stored scale for all rows, for quantized weights
  kInt16Static,  ///< 16-bit codes, the same
  kF16,          ///< rounded to f16; weights as f16
  kBf16,         ///< rounded to bf16; weights as bf16
  kMxfp8,        ///< rounded to MXFP8; weights in MXFP8
};

/// The largest magnitudes of 8- and 16-bit codes. The latter is 255 * 127 + 127, what two int8
/// products can take (docs/npu_sim.md).
inline constexpr int kInt8CodeMax = 127;
inline constexpr int kInt16CodeMax = 32512;

/// The processor's own choice: kInt16Rows where the user wants 16-bit activations for quantized
/// weights, else kGroups.
LinearArithmetic own_arithmetic(const Weight& weight);

/// The arithmetic of a linear by its weight; empty: own_arithmetic.
using ArithmeticOf = std::function<LinearArithmetic(const Weight&)>;

}  // namespace tandem
