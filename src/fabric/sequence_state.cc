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

Result<SequenceState> SequenceState::create(const Graph& graph, uint32_t capacity) {
  SequenceState out;
  out.capacity_ = capacity;
  TANDEM_TRY(out.memory_, Buffer::allocate(bytes_needed(graph, capacity), "the key/value cache"));
  const uint64_t padded = padded_capacity(capacity);
  uint64_t offset = 0;
  for (const State& state : graph.states) {
    const KvState& kv = std::get<KvState>(state);
    auto* keys = out.memory_.as<uint16_t>(offset);
    auto* values = out.memory_.as<uint16_t>(offset + key_bytes(kv, padded));
    out.views_.push_back({keys, values, padded, kv.n_kv_heads, kv.key_size, kv.value_size});
    offset += key_bytes(kv, padded) + value_bytes(kv, padded);
  }
  return out;
}

}  // namespace tandem
