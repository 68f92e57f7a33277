#pragma once

// Storing keys and values in the cache's f16 layouts.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/attention/attention.h"

namespace tandem::kernels::attention {

/// Rounds `n` floats to f16, element i to to[i * step].
template <class V>
[[gnu::always_inline]] inline void narrow(const float* from, size_t n, uint16_t* to, size_t step) {
  for (size_t i = 0; i < n; i += 16) {
    const size_t count = n - i < 16 ? n - i : 16;
    uint16_t rounded[16];
    V::load_partial(from + i, static_cast<int>(count)).store_f16(rounded);
    for (size_t j = 0; j < count; ++j) to[(i + j) * step] = rounded[j];
  }
}

template <class T>
[[gnu::always_inline]] inline void write_kv(const KvWriteArgs& args) {
  using V = typename T::V;
  const KvView& kv = args.kv;
  for (size_t row = 0; row < args.n_rows; ++row) {
    const char* k_bytes = reinterpret_cast<const char*>(args.k) + row * args.k_stride;
    const char* v_bytes = reinterpret_cast<const char*>(args.v) + row * args.v_stride;
    const float* k = reinterpret_cast<const float*>(k_bytes);
    const float* v = reinterpret_cast<const float*>(v_bytes);
    const size_t position = args.first_position + row;
    const size_t tile = position / kKeyTile * kKeyTile;
    for (size_t head = 0; head < kv.n_kv_heads; ++head) {
      uint16_t* key_tile = kv.keys + (head * kv.capacity + tile) * kv.key_size;
      narrow<V>(k + head * kv.key_size, kv.key_size, key_tile + position % kKeyTile, kKeyTile);
      uint16_t* value = kv.values + (head * kv.capacity + position) * kv.value_size;
      narrow<V>(v + head * kv.value_size, kv.value_size, value, 1);
    }
  }
}

}  // namespace tandem::kernels::attention
