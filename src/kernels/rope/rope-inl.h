#pragma once

#include "kernels/rope/rope.h"

// Rotary embedding over a sixteen-lane vector type V.

namespace tandem::kernels::rope {

/// The pairs (a, b) of sixteen lanes, rotated.
template <class V>
[[gnu::always_inline]] inline void rotate(V& a, V& b, V cos, V sin) {
  const V rotated_a = V::fma(a, cos, -(b * sin));
  b = V::fma(a, sin, b * cos);
  a = rotated_a;
}

template <class V>
[[gnu::always_inline]] inline void rotate_halves(float* x, const float* cos, const float* sin,
                                                 size_t n_pairs) {
  size_t p = 0;
  for (; p + 16 <= n_pairs; p += 16) {
    V a = V::load(x + p), b = V::load(x + n_pairs + p);
    rotate(a, b, V::load(cos + p), V::load(sin + p));
    a.store(x + p);
    b.store(x + n_pairs + p);
  }
  if (p < n_pairs) {
    const int rest = static_cast<int>(n_pairs - p);
    V a = V::load_partial(x + p, rest), b = V::load_partial(x + n_pairs + p, rest);
    rotate(a, b, V::load_partial(cos + p, rest), V::load_partial(sin + p, rest));
    a.store_partial(x + p, rest);
    b.store_partial(x + n_pairs + p, rest);
  }
}

template <class V>
[[gnu::always_inline]] inline void rotate_adjacent(float* x, const float* cos, const float* sin,
                                                   size_t n_pairs) {
  V a, b, low, high;
  size_t p = 0;
  for (; p + 16 <= n_pairs; p += 16) {
    V::deinterleave(V::load(x + 2 * p), V::load(x + 2 * p + 16), a, b);
    rotate(a, b, V::load(cos + p), V::load(sin + p));
    V::interleave(a, b, low, high);
    low.store(x + 2 * p);
    high.store(x + 2 * p + 16);
  }
  if (p < n_pairs) {
    const int rest = static_cast<int>(n_pairs - p);
    const int in_low = rest < 8 ? 2 * rest : 16;
    const int in_high = 2 * rest - in_low;
    float* x_high = x + 2 * p + in_low;
    V::deinterleave(V::load_partial(x + 2 * p, in_low), V::load_partial(x_high, in_high), a, b);
    rotate(a, b, V::load_partial(cos + p, rest), V::load_partial(sin + p, rest));
    V::interleave(a, b, low, high);
    low.store_partial(x + 2 * p, in_low);
    high.store_partial(x_high, in_high);
  }
}

/// HOT: rope_bench.
template <class V>
[[gnu::always_inline]] inline void rope(const RopeArgs& args) {
  const size_t n_pairs = args.n_rotated / 2;
  for (size_t h = 0; h < args.n_heads; ++h) {
    float* x = args.x + h * args.head_size;
    if (args.pairs == RopePairs::kHalves) {
      rotate_halves<V>(x, args.cos, args.sin, n_pairs);
    } else {
      rotate_adjacent<V>(x, args.cos, args.sin, n_pairs);
    }
  }
}

}  // namespace tandem::kernels::rope
