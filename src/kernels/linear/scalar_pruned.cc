// The reference row of Q4_24.

#include "kernels/linear/linear_kernels.h"
#include "kernels/linear/pruned_format.h"
#include "kernels/linear/tiles-inl.h"

namespace tandem::kernels {
namespace {

using packed::Pruned;

/// The exact sum of a group: sixteen products, one for each weight that was kept.
int group_sum(const BlockQ4_24& block, const int8_t* x) {
  int sum = 0;
  for (int i = 0; i < BlockQ4_24::kKept; ++i) {
    sum += (q4_24_code(block, i) - Pruned::kOffset) * x[q4_24_position(block, i)];
  }
  return sum;
}

/// One output of one tile.
float dot(const LinearArgs& a, size_t m, const std::byte* tile, int row) {
  const size_t n_groups = a.w.k / kActivationGroup;
  float acc = 0;
  for (size_t g = 0; g < n_groups; ++g, tile += Pruned::kBlockBytes) {
    const BlockQ4_24 block = Pruned::unpack(tile, row);
    const int sum = group_sum(block, a.xq.codes + (m * n_groups + g) * kActivationGroup);
    const float scale = f16_to_f32(block.d) * a.xq.scales[m * n_groups + g];
    acc = __builtin_fmaf(static_cast<float>(sum), scale, acc);
  }
  return acc;
}

}  // namespace

void linear_q4_24_i8_16_scalar(const LinearArgs& a) noexcept {
  const size_t tile_bytes = a.w.k / Pruned::kElements * Pruned::kBlockBytes;
  for_each_tile<1>(a, tile_bytes, a.w.k, [&](const TileJob& job) {
    float* y = output_at(a, job.m, job.n);
    for (int i = 0; i < job.n_cols; ++i) {
      const float sum = dot(a, job.m, job.tile, i);
      y[i] = a.bias == nullptr ? sum : sum + a.bias[job.n + i];
    }
  });
}

}  // namespace tandem::kernels
