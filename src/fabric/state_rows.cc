#include "fabric/state_rows.h"

#include <cstring>

#include "base/check.h"

namespace tandem {
namespace {

/// Calls visit(element, n) for each run of elements that lie together, in the dense order.
template <class Visit>
void visit_rows(const kernels::KvView& kv, uint32_t first, uint32_t n_rows, const Visit& visit) {
  constexpr size_t kTile = kernels::kKeyTile;
  TANDEM_CHECK(kv.keys != nullptr);
  for (size_t head = 0; head < kv.n_kv_heads; ++head) {
    uint16_t* keys = kv.keys + head * kv.capacity * kv.key_size;
    for (size_t p = first; p < first + size_t{n_rows}; ++p) {
      uint16_t* tile = keys + p / kTile * kTile * kv.key_size + p % kTile;
      for (size_t d = 0; d < kv.key_size; ++d) visit(tile + d * kTile, size_t{1});
    }
  }
  for (size_t head = 0; head < kv.n_kv_heads; ++head) {
    uint16_t* values = kv.values + head * kv.capacity * kv.value_size;
    visit(values + first * kv.value_size, n_rows * kv.value_size);
  }
}

}  // namespace

size_t state_rows_bytes(const SequenceState& state, StateId id, uint32_t n_rows) {
  const kernels::KvView& kv = state.kv(id);
  return n_rows * kv.n_kv_heads * (kv.key_size + kv.value_size) * sizeof(uint16_t);
}

void save_state_rows(const SequenceState& state, StateId id, uint32_t first, uint32_t n_rows,
                     std::byte* out) {
  visit_rows(state.kv(id), first, n_rows, [&](const uint16_t* from, size_t n) {
    std::memcpy(out, from, n * sizeof(uint16_t));
    out += n * sizeof(uint16_t);
  });
}

void restore_state_rows(SequenceState& state, StateId id, uint32_t first, uint32_t n_rows,
                        const std::byte* in) {
  visit_rows(state.kv(id), first, n_rows, [&](uint16_t* to, size_t n) {
    std::memcpy(to, in, n * sizeof(uint16_t));
    in += n * sizeof(uint16_t);
  });
}

}  // namespace tandem
