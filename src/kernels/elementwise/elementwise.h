#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa.h"

namespace tandem::kernels {

/// The gate's activation in a gated linear unit. -infinity gives NaN in the first two, as every
/// infinite input is an error found elsewhere.
enum class Activation : uint8_t {
  kSilu,      ///< g / (1 + e^-g)
  kGeluTanh,  ///< g / 2 (1 + tanh(sqrt(2 / pi) (g + 0.044715 g^3)))
  kRelu2,     ///< max(g, 0)^2
};

/// Functions over `n` contiguous floats; outputs may alias inputs of the same position. Every row
/// of the table computes the same bits; the transcendental ones follow kernels/simd/math-inl.h.
struct ElementwiseRow {
  Isa isa;
  const char* name;  ///< for instance "elementwise_f32_avx2"
  /// y[i] = a[i] + b[i]
  void (*add)(const float* a, const float* b, float* y, size_t n) noexcept;
  /// y[i] = factor * a[i]
  void (*scale)(const float* a, float factor, float* y, size_t n) noexcept;
  /// y[i] = cap * tanh(a[i] / cap)
  void (*softcap)(const float* a, float cap, float* y, size_t n) noexcept;
  /// y[i] = activation(gate[i]) * up[i]
  void (*glu)(Activation activation, const float* gate, const float* up, float* y,
              size_t n) noexcept;
  /// Whether every element is finite; true for none.
  bool (*all_finite)(const float* a, size_t n) noexcept;
};
std::span<const ElementwiseRow> elementwise_rows();
const ElementwiseRow& select_elementwise(Isa isa);

}  // namespace tandem::kernels
