#pragma once

#include <cstddef>

#include "tensor/dtype.h"

namespace tandem {

/// Whether elements are codes in blocks with scales (every format but the plain numbers).
bool is_quantized(DType type);

/// Whether `decode_row` and `encode_row` take the type: F32, F16, BF16 and the quantized ones. The
/// formats a weight may have.
bool holds_weights(DType type);

/// `n` elements of file layout to float; bit-exact to the format's definition
/// (docs/tensor_formats.md). `n` is a multiple of the block size and `holds_weights(type)`; `row`
/// needs no alignment and spans row_bytes(type, n).
void decode_row(DType type, const std::byte* row, float* out, size_t n);

/// The inverse, nearest values as each format's header describes. Magnitudes beyond what a scale
/// can hold become infinite, those below vanish; NaN gives meaningless codes, never undefined
/// behaviour.
void encode_row(DType type, const float* in, std::byte* row, size_t n);

/// Where a row is damaged: the index of the first element that is infinite or NaN or, for quantized
/// types, of the first block with such a scale (for MXFP4 the NaN exponent 255); `n` if there is
/// none. Reads the scales only, so it costs little more than the memory traffic.
size_t first_non_finite(DType type, const std::byte* row, size_t n);

}  // namespace tandem
