#include "kernels/attention/attention-inl.h"
#include "kernels/attention/kv_write-inl.h"
#include "kernels/attention/kv_write_i8-inl.h"
#include "kernels/simd/f32x16_avx2.h"

namespace tandem::kernels::attention::avx2 {

// 16 registers of 8 floats: up to 12 hold sums, the others a vector of the block and a query.
struct Tiling {
  using V = kernels::avx2::F32x16;
  static constexpr int kTileRows = 6;
  static constexpr int chunks(int n_rows) { return n_rows > 3 ? 1 : n_rows > 1 ? 2 : 4; }
  static V load_i8(const int8_t* p) {
    const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(codes)),
            _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(codes, 8)))};
  }
};

void run_f16(const AttentionArgs& args) noexcept { run_attention<Tiling, F16Source<Tiling>>(args); }
void run_i8(const AttentionArgs& args) noexcept { run_attention<Tiling, I8Source<Tiling>>(args); }
void write_f16(const KvWriteArgs& args) noexcept { write_kv<Tiling>(args); }
void write_i8(const KvWriteArgs& args) noexcept { write_kv_i8<Tiling>(args); }

}  // namespace tandem::kernels::attention::avx2
