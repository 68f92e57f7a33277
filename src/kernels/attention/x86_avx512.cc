#include "kernels/attention/attention-inl.h"
#include "kernels/attention/kv_write-inl.h"
#include "kernels/simd/f32x16_avx512.h"

namespace tandem::kernels::attention::avx512 {

// 32 registers: 16 sums hide the latency of the multiply-add and leave the block's vectors room.
struct Tiling {
  using V = kernels::avx512::F32x16;
  static constexpr int kTileRows = 8;
  static constexpr int chunks(int n_rows) { return n_rows > 4 ? 2 : 4; }
};

void run(const AttentionArgs& args) noexcept { run_attention<Tiling>(args); }
void write(const KvWriteArgs& args) noexcept { write_kv<Tiling>(args); }

}  // namespace tandem::kernels::attention::avx512
