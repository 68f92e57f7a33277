#include "fabric/sequence_state.h"

namespace tandem {
namespace {

uint64_t padded_capacity(uint32_t capacity) {
  return (uint64_t{capacity} + kernels::kKeyTile - 1) / kernels::kKeyTile * kernels::kKeyTile;
}

uint64_t key_bytes(const KvState& kv, uint64_t capacity) {
  return capacity * kv.n_kv_heads * kv.key_size * sizeof(uint16_t);
}

uint64_t value_bytes(const KvState& kv, uint64_t capacity) {
  return capacity * kv.n_kv_heads * kv.value_size * sizeof(uint16_t);
}

}  // namespace

uint64_t SequenceState::bytes_needed(const Graph& graph, uint32_t capacity) {
  const uint64_t padded = padded_capacity(capacity);
  uint64_t total = 0;
  for (const State& state : graph.states) {
    const KvState& kv = std::get<KvState>(state);
    total += key_bytes(kv, padded) + value_bytes(kv, padded);
  }
  return total;
}

Result<SequenceState> SequenceState::create(const Graph& graph, uint32_t capacity,
                                            Sharing sharing) {
  SequenceState out;
  out.capacity_ = capacity;
  const uint64_t n_bytes = bytes_needed(graph, capacity);
  std::byte* start = nullptr;
  if (sharing == Sharing::kShareable) {
    TANDEM_TRY(out.shared_, SharedMemory::allocate(n_bytes, "the key/value cache"));
    start = out.shared_.data();
  } else {
    TANDEM_TRY(out.memory_, Buffer::allocate(n_bytes, "the key/value cache"));
    start = out.memory_.data();
  }
  const uint64_t padded = padded_capacity(capacity);
  uint64_t offset = 0;
  for (const State& state : graph.states) {
    const KvState& kv = std::get<KvState>(state);
    auto* keys = reinterpret_cast<uint16_t*>(start + offset);
    auto* values = reinterpret_cast<uint16_t*>(start + offset + key_bytes(kv, padded));
    out.views_.push_back({keys, values, padded, kv.n_kv_heads, kv.key_size, kv.value_size});
    offset += key_bytes(kv, padded) + value_bytes(kv, padded);
  }
  return out;
}

}  // namespace tandem
