#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa.h"
#include "tensor/dtype.h"

namespace tandem::kernels {

/// Rows of a weight matrix that are packed side by side.
inline constexpr size_t kTileRows = 16;
/// Elements along K that share one activation scale.
inline constexpr size_t kActivationGroup = 32;

/// Elements along K whose codes are summed together; two such halves make a group.
inline constexpr size_t kActivationHalf = 16;

/// Activations as int8 with one scale per group of 32 along K:
///   x[m][k] ~ scales[m][k / 32] * codes[m][k]
/// Codes are round(x / (max|x| / c)), so within [-127, 127], with the c of 127, 126 and 125 that
/// leaves the least squared error (the first of equals); the scale is then refitted by least
/// squares to those codes. A group whose magnitudes are all below 2^-120 is all zero with scale 0;
/// one that holds an infinity or NaN has zero codes and a NaN scale, which reaches every output.
/// K is a multiple of 32. No alignment is needed.
struct QuantizedActivations {
  int8_t* codes;  ///< (m, k)
  float* scales;  ///< (m, k / 32)
  int16_t* sums;  ///< (m, k / 16): sum of the codes of each half group
};

struct QuantizeArgs {
  const float* x;  ///< (n_rows, k), rows `x_stride` bytes apart
  size_t x_stride;
  size_t n_rows;
  size_t k;
  QuantizedActivations out;  ///< row 0 of `out` is row 0 of x
};
using QuantizeFn = void (*)(const QuantizeArgs&) noexcept;

/// A weight matrix W (n, k) in packed layout (docs/packed_weights.md): tiles of 16 rows, the last
/// one padded with zero rows; the same bytes for every ISA.
struct PackedMatrix {
  DType type;
  size_t n;                        ///< rows = outputs
  size_t k;                        ///< columns
  const std::byte* data;           ///< 64-byte aligned
  const std::byte* low = nullptr;  ///< nested weights: the packed low plane (nested.h)
  uint32_t low_shift = 0;          ///< its e
};

/// Bytes of the packed form; within 4 % of the file's own.
size_t packed_bytes(DType type, size_t n, size_t k);
/// Packs rows [row_begin, row_end) of a matrix in file layout; row_begin is a multiple of 16, and
/// so is row_end unless it is n. Thread safe for disjoint ranges.
void pack_rows(DType type, const std::byte* file_rows, size_t n, size_t k, size_t row_begin,
               size_t row_end, std::byte* packed) noexcept;
/// One row as floats, equal to decoding the file's row.
void unpack_row(const PackedMatrix& w, size_t row, float* out) noexcept;

/// Whether linear over `type` reads QuantizedActivations (true) or float rows (F32, F16, BF16,
/// MXFP8).
bool uses_quantized_activations(DType type);

/// y[m][n] = bias[n] + sum_k W[n][k] x[m][k]  for n in [n_begin, n_end)
///
/// Quantized types: one exact int32 sum per weight group, the groups added in K order in f32 with
/// fused multiply-adds. Float types: f32 fused multiply-adds in K order. The bias is added last.
/// Every row of the table computes the same bits but for the two of kernels.inc that round
/// activations to bf16; each row computes them for any split of m and n.
struct LinearArgs {
  PackedMatrix w;
  const float* x;  ///< float types: (m, k), rows `x_stride` bytes apart
  size_t x_stride;
  QuantizedActivations xq;  ///< quantized types: (m, k)
  const float* bias;        ///< (n) or null
  float* y;                 ///< (m, n), rows `y_stride` bytes apart
  size_t y_stride;
  size_t m;
  size_t n_begin;  ///< a multiple of 16
  size_t n_end;    ///< a multiple of 16, or w.n
};
using LinearFn = void (*)(const LinearArgs&) noexcept;

struct LinearRow {
  Isa isa;
  DType type;
  const char* name;  ///< for instance "linear_q4_0_i8_16_avx512_vnni"
  LinearFn run;
};
struct QuantizeRow {
  Isa isa;
  const char* name;
  QuantizeFn run;
};
/// Every row of this build, scalar first.
std::span<const LinearRow> linear_rows();
std::span<const QuantizeRow> quantize_rows();
/// The row of `isa` for `type`, or the best one below it; null when no row takes the type.
const LinearRow* select_linear(Isa isa, DType type);
const QuantizeRow& select_quantize(Isa isa);

}  // namespace tandem::kernels
