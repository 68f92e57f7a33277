#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/isa.h"

namespace tandem::kernels {

/// Positions per key tile. Keys of one head lie as (capacity / 16, key_size, 16): sixteen
/// neighbouring positions side by side, so that a score needs no horizontal sum and every ISA adds
/// the same terms in the same order. Values of one head lie as (capacity, value_size).
inline constexpr size_t kKeyTile = 16;

/// How a cache holds its elements (docs/attention.md).
enum class KvStorage : uint8_t {
  kF16,  ///< the default
  kI8,   ///< rotated keys and plain values as codes, one scale for each position and head
};
/// "f16", "i8".
constexpr const char* to_string(KvStorage storage) {
  return storage == KvStorage::kF16 ? "f16" : "i8";
}

/// One layer's cache of one sequence. `capacity` is a multiple of kKeyTile. Whole key tiles are
/// read, but positions that no row sees (not written yet, or older than the window) may hold
/// anything, NaN included. No alignment beyond the element's is needed; a cache line's is faster.
/// f16 uses `keys` and `values`; i8 the four members behind and neither of those.
struct KvView {
  uint16_t* keys;    ///< (n_kv_heads, capacity / 16, key_size, 16)
  uint16_t* values;  ///< (n_kv_heads, capacity, value_size)
  size_t capacity;
  size_t n_kv_heads;
  size_t key_size;
  size_t value_size;
  int8_t* key_codes = nullptr;    ///< as keys
  int8_t* value_codes = nullptr;  ///< as values
  float* key_scales = nullptr;    ///< (n_kv_heads, capacity)
  float* value_scales = nullptr;  ///< (n_kv_heads, capacity)
};

/// Stores the key and value of `n_rows` consecutive tokens: rounded to f16 (nearest even, to
/// infinity beyond 65504), or as codes round(127 x / max|x|). A key or value that is not finite
/// gets the scale NaN, so that it shows.
struct KvWriteArgs {
  const float* k;  ///< (n_rows, n_kv_heads, key_size), rows `k_stride` bytes apart
  const float* v;  ///< (n_rows, n_kv_heads, value_size), rows `v_stride` bytes apart
  size_t k_stride;
  size_t v_stride;
  size_t n_rows;
  size_t first_position;  ///< of row 0; first_position + n_rows <= capacity
  KvView kv;
};

/// out[r][h] = sum_p softmax_p(score[r][h][p]) * V[p]
/// score[r][h][p] = cap(scale * sum_d q[r][h][d] * K[p][d]),  cap(s) = softcap * tanh(s / softcap)
/// over the positions p that row r sees: max(0, P - window + 1) <= p <= P, P = first_position + r.
///
/// Arithmetic (docs/attention.md): scores add over d in order, fused; softmax is online over blocks
/// of 64 positions aligned to absolute position 0, so a row's result depends on nothing but its own
/// position, q and the positions it sees (batch invariance). Masked positions contribute exactly
/// nothing, whatever they hold. Every row of the table computes the same bits; where a score is NaN
/// or +infinity (a key beyond f16, say) every row gives NaN.
struct AttentionArgs {
  const float* q;  ///< (n_rows, n_heads, key_size), rows `q_stride` bytes apart
  float* out;      ///< (n_rows, n_heads, value_size), rows `out_stride` bytes apart
  size_t q_stride;
  size_t out_stride;
  size_t first_position;  ///< of row 0; the cache holds first_position + n_rows positions
  size_t row_begin;       ///< this call computes the rows [row_begin, row_end)
  size_t row_end;
  size_t kv_head;  ///< and the query heads that share this key/value head
  size_t n_heads;  ///< a multiple of kv.n_kv_heads
  size_t window;   ///< positions a row sees, itself included; 0 for all
  float scale;
  float softcap;  ///< 0 for none
  KvView kv;
  std::byte* scratch;  ///< attention_scratch_bytes() for this thread, 64-byte aligned
};

/// Scratch of one thread for any number of rows; a multiple of 64.
size_t attention_scratch_bytes(size_t n_heads, size_t n_kv_heads, size_t key_size,
                               size_t value_size);

struct AttentionRow {
  Isa isa;
  KvStorage storage;
  const char* name;  ///< for instance "attention_f16_avx2"
  void (*write)(const KvWriteArgs&) noexcept;
  void (*run)(const AttentionArgs&) noexcept;
};
/// Every row of this build, scalar first.
std::span<const AttentionRow> attention_rows();
/// The row of `isa` for `storage`, or the best one below it.
const AttentionRow& select_attention(Isa isa, KvStorage storage = KvStorage::kF16);

}  // namespace tandem::kernels
