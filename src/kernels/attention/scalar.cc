// The scalar row: the same templates over sixteen plain floats; the reference of the others.

#include "kernels/attention/attention-inl.h"
#include "kernels/attention/kv_write-inl.h"
#include "kernels/simd/f32x16_scalar.h"

namespace tandem::kernels::attention::scalar {

struct Tiling {
  using V = kernels::scalar::F32x16;
  static constexpr int kTileRows = 2;
  static constexpr int chunks(int) { return 1; }
};

void run(const AttentionArgs& args) noexcept { run_attention<Tiling>(args); }
void write(const KvWriteArgs& args) noexcept { write_kv<Tiling>(args); }

}  // namespace tandem::kernels::attention::scalar
