#include "kernels/attention/attention-inl.h"
#include "kernels/attention/kv_write-inl.h"
#include "kernels/simd/f32x16_avx2.h"

namespace tandem::kernels::attention::avx2 {

// 16 registers of 8 floats: up to 12 hold sums, the others a vector of the block and a query.
struct Tiling {
  using V = kernels::avx2::F32x16;
  static constexpr int kTileRows = 6;
  static constexpr int chunks(int n_rows) { return n_rows > 3 ? 1 : n_rows > 1 ? 2 : 4; }
};

void run(const AttentionArgs& args) noexcept { run_attention<Tiling>(args); }
void write(const KvWriteArgs& args) noexcept { write_kv<Tiling>(args); }

}  // namespace tandem::kernels::attention::avx2
