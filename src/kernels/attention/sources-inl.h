#pragma once

// How the kernels read a cache: one source for each storage, and one for widened blocks. T is the
// ISA's Tiling, which names the vector type and loads what that type does not.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/attention/attention.h"

namespace tandem::kernels::attention {

/// A block read once comes from memory: ask for the next one while this one is worked on. A
/// prefetch never faults, so the cache's end needs no care.
template <class Element>
[[gnu::always_inline]] inline void prefetch_next(const Element* p, size_t distance) {
  __builtin_prefetch(
      reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(p) + distance * sizeof(Element)));
}

template <class T>
struct F16Source {
  using V = typename T::V;
  using Element = uint16_t;
  static constexpr bool kScaled = false;
  static const Element* keys(const KvView& kv) { return kv.keys; }
  static const Element* values(const KvView& kv) { return kv.values; }
  [[gnu::always_inline]] static V load(const Element* p) { return V::load_f16(p); }
  [[gnu::always_inline]] static void prefetch(const Element* p, size_t next) {
    prefetch_next(p, next);
  }
};

/// Codes only: the scales go to scores and weights, one for each position.
template <class T>
struct I8Source {
  using V = typename T::V;
  using Element = int8_t;
  static constexpr bool kScaled = true;
  static const Element* keys(const KvView& kv) { return kv.key_codes; }
  static const Element* values(const KvView& kv) { return kv.value_codes; }
  [[gnu::always_inline]] static V load(const Element* p) { return T::load_i8(p); }
  [[gnu::always_inline]] static void prefetch(const Element* p, size_t next) {
    prefetch_next(p, next);
  }
};

template <class T>
struct F32Source {
  using V = typename T::V;
  using Element = float;
  [[gnu::always_inline]] static V load(const Element* p) { return V::load(p); }
  [[gnu::always_inline]] static void prefetch(const Element*, size_t) {}
};

/// Widens `n` elements; pads the last sixteen floats with zeros, but reads no element beyond.
template <class Source>
[[gnu::always_inline]] inline void widen(const typename Source::Element* from, size_t n,
                                         float* to) {
  size_t i = 0;
  for (; i + 16 <= n; i += 16) Source::load(from + i).store(to + i);
  if (i == n) return;
  typename Source::Element padded[16] = {};
  std::memcpy(padded, from + i, (n - i) * sizeof padded[0]);
  Source::load(padded).store(to + i);
}

}  // namespace tandem::kernels::attention
