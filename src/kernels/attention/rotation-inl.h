#pragma once

// The rotation that int8 keys and their queries go through.

#include <cstddef>

namespace tandem::kernels::attention {

/// Elements that are rotated together: the largest power of two that divides key_size, at most 256.
template <class T>
[[gnu::always_inline]] inline size_t rotation_size(size_t key_size) {
  const size_t power = key_size & (~key_size + 1);
  return power < 256 ? power : 256;
}

/// Walsh-Hadamard transform of `n` elements (a power of two) in place, without its factor
/// 1 / sqrt(n). It is its own transpose, so that (H q) . (H k) = n (q . k): a channel that is far
/// larger than the others is spread over all of them and costs the codes of none its precision.
template <class T>
[[gnu::always_inline]] inline void rotate(float* x, size_t n) {
  for (size_t half = 1; half < n; half *= 2) {
    for (size_t at = 0; at < n; at += 2 * half) {
      for (size_t i = at; i < at + half; ++i) {
        const float a = x[i], b = x[i + half];
        x[i] = a + b;
        x[i + half] = a - b;
      }
    }
  }
}

}  // namespace tandem::kernels::attention
