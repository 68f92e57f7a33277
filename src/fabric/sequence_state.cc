#include "fabric/sequence_state.h"

namespace tandem {
namespace {

uint64_t padded_capacity(uint32_t capacity) {
  return (uint64_t{capacity} + kernels::kKeyTile - 1) / kernels::kKeyTile * kernels::kKeyTile;
}

/// Bytes of the parts of one layer's cache, in the order in which they lie in memory.
struct KvBytes {
  uint64_t keys, values, key_scales, value_scales;

  KvBytes(const KvState& kv, uint64_t capacity) {
    const uint64_t positions = capacity * kv.n_kv_heads;
    const bool is_coded = kv.storage == kernels::KvStorage::kI8;
    const uint64_t element = is_coded ? sizeof(int8_t) : sizeof(uint16_t);
    keys = positions * kv.key_size * element;
    values = positions * kv.value_size * element;
    key_scales = value_scales = is_coded ? positions * sizeof(float) : 0;
  }
  uint64_t total() const { return keys + values + key_scales + value_scales; }
};

kernels::KvView view_at(std::byte* start, const KvState& kv, uint64_t capacity) {
  const KvBytes bytes(kv, capacity);
  kernels::KvView view{.keys = nullptr,
                       .values = nullptr,
                       .capacity = capacity,
                       .n_kv_heads = kv.n_kv_heads,
                       .key_size = kv.key_size,
                       .value_size = kv.value_size};
  std::byte* const values = start + bytes.keys;
  if (kv.storage == kernels::KvStorage::kF16) {
    view.keys = reinterpret_cast<uint16_t*>(start);
    view.values = reinterpret_cast<uint16_t*>(values);
    return view;
  }
  std::byte* const scales = values + bytes.values;
  view.key_codes = reinterpret_cast<int8_t*>(start);
  view.value_codes = reinterpret_cast<int8_t*>(values);
  view.key_scales = reinterpret_cast<float*>(scales);
  view.value_scales = reinterpret_cast<float*>(scales + bytes.key_scales);
  return view;
}

}  // namespace

uint64_t SequenceState::bytes_needed(const Graph& graph, uint32_t capacity) {
  const uint64_t padded = padded_capacity(capacity);
  uint64_t total = 0;
  for (const State& state : graph.states) {
    total += KvBytes(std::get<KvState>(state), padded).total();
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
    out.views_.push_back(view_at(start + offset, kv, padded));
    offset += KvBytes(kv, padded).total();
  }
  return out;
}

}  // namespace tandem
