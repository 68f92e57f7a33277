// The scalar row: the same templates over sixteen plain floats; the reference of the others.

#include "kernels/attention/attention-inl.h"
#include "kernels/attention/kv_write-inl.h"
#include "kernels/attention/kv_write_i8-inl.h"
#include "kernels/simd/f32x16_scalar.h"

namespace tandem::kernels::attention::scalar {

struct Tiling {
  using V = kernels::scalar::F32x16;
  static constexpr int kTileRows = 2;
  static constexpr int chunks(int) { return 1; }
  static V load_i8(const int8_t* p) {
    V wide;
    for (int i = 0; i < 16; ++i) wide.lane[i] = p[i];
    return wide;
  }
};

void run_f16(const AttentionArgs& args) noexcept { run_attention<Tiling, F16Source<Tiling>>(args); }
void run_i8(const AttentionArgs& args) noexcept { run_attention<Tiling, I8Source<Tiling>>(args); }
void write_f16(const KvWriteArgs& args) noexcept { write_kv<Tiling>(args); }
void write_i8(const KvWriteArgs& args) noexcept { write_kv_i8<Tiling>(args); }

}  // namespace tandem::kernels::attention::scalar
