#pragma once

#include <cstddef>
#include <span>

#include "kernels/linear/linear.h"

// Linear over both planes of nested weights (docs/nested_format.md). The high plane is packed as
// the Q4_0 matrix that it is, and read alone by the Q4_0 rows of linear.h; the low plane has an
// array of its own, which only the rows here touch.

namespace tandem::kernels {

/// Bytes of the packed low plane: half a byte a weight, tiles of 16 rows padded with zeros.
size_t packed_low_bytes(size_t n, size_t k);

/// Packs rows [row_begin, row_end) of a low plane in file layout, (n, k / 2); rows as for
/// pack_rows.
void pack_low_rows(const std::byte* file_rows, size_t n, size_t k, size_t row_begin, size_t row_end,
                   std::byte* packed) noexcept;

/// One row from both planes of `w`, equal to decode_nested_row of the file's rows.
void unpack_nested_row(const PackedMatrix& w, size_t row, float* out) noexcept;

/// y[m][n] = bias[n] + sum_k W[n][k] x[m][k] with W = s (h + l 2^-e): `w` has type Q4_0 and a low
/// plane. One exact int32 sum of (2^e h + l) * code for each group of 32, then fused in K order in
/// f32 with the scale (s 2^-e) * activation scale: the arithmetic of Q8_0. Every row computes the
/// same bits.
std::span<const LinearRow> nested_rows();
/// The row of `isa`, or the best one below it.
const LinearRow& select_nested(Isa isa);

#define TANDEM_NESTED(isa, name) void name(const LinearArgs&) noexcept;
#include "kernels/linear/nested_kernels.inc"
#undef TANDEM_NESTED

}  // namespace tandem::kernels
