#pragma once

#include <cstdint>
#include <functional>

#include "graph/graph.h"

namespace tandem {

/// How a linear takes its activations; docs/npu_sim.md gives the formulas.
enum class LinearArithmetic : uint8_t {
  kOwn,        ///< the processor's: int8 in groups of 32 for quantized weights, else f32
  kInt16Rows,  ///< 16-bit codes, one scale a row, for quantized weights
  kF16,        ///< rounded to f16; weights as f16
  kBf16,       ///< rounded to bf16; weights as bf16
};

/// The arithmetic of a linear by its weight; empty: kOwn for all.
using ArithmeticOf = std::function<LinearArithmetic(const Weight&)>;

}  // namespace tandem
