// The reference row of MXFP8.

#include "kernels/linear/fp8_format.h"
#include "kernels/linear/linear_kernels.h"
#include "kernels/linear/tiles-inl.h"

namespace tandem::kernels {
namespace {

using packed::Fp8;
using packed::kRows;

/// One output of one tile.
float dot(const float* x, const std::byte* tile, size_t k, int row) {
  float acc = 0;
  for (size_t first = 0; first < k; first += Fp8::kElements, tile += Fp8::kBlockBytes) {
    const BlockMxfp8 block = Fp8::unpack(tile, row);
    float sum = 0;
    for (int i = 0; i < Fp8::kElements; ++i) {
      sum = __builtin_fmaf(f16_to_f32(fp8_as_f16(block.qs[i])), x[first + i], sum);
    }
    acc = __builtin_fmaf(sum, mxfp8_f16_scale(block.e), acc);
  }
  return acc;
}

}  // namespace

void linear_mxfp8_f32_16_scalar(const LinearArgs& a) noexcept {
  const size_t tile_bytes = a.w.k / Fp8::kElements * Fp8::kBlockBytes;
  for_each_tile<1>(a, tile_bytes, a.w.k * sizeof(float), [&](const TileJob& job) {
    float* y = output_at(a, job.m, job.n);
    for (int i = 0; i < job.n_cols; ++i) {
      const float sum = dot(input_at(a, job.m), job.tile, a.w.k, i);
      y[i] = a.bias == nullptr ? sum : sum + a.bias[job.n + i];
    }
  });
}

}  // namespace tandem::kernels
