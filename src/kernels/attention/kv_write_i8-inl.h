#pragma once

// Storing keys and values as int8 codes with one scale for each position and head.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/attention/attention.h"
#include "kernels/attention/rotation-inl.h"

namespace tandem::kernels::attention {

/// The largest magnitude among `n` floats; NaN when one of them is not finite.
template <class V>
[[gnu::always_inline]] inline float largest_magnitude(const float* x, size_t n) {
  V largest = V::zero(), poison = V::zero();
  for (size_t i = 0; i < n; i += 16) {
    const V element = V::load_partial(x + i, static_cast<int>(n - i < 16 ? n - i : 16));
    largest = V::max(V::abs(element), largest);
    poison = V::fma(element, V::zero(), poison);
  }
  return V::reduce_max(largest) + V::reduce_add(poison) * 0.0f;
}

/// code i = round(x[i] * inverse) at to[i * step].
template <class V>
[[gnu::always_inline]] inline void encode(const float* x, size_t n, float inverse, int8_t* to,
                                          size_t step) {
  for (size_t i = 0; i < n; i += 16) {
    const size_t count = n - i < 16 ? n - i : 16;
    alignas(64) float rounded[16];
    const V element = V::load_partial(x + i, static_cast<int>(count));
    V::round(element * V::set1(inverse)).store(rounded);
    for (size_t j = 0; j < count; ++j) to[(i + j) * step] = static_cast<int8_t>(rounded[j]);
  }
}

struct CodeScale {
  float scale;    ///< what a code stands for
  float inverse;  ///< 0 where all codes are to be 0
};
/// Too small to divide by means 0; a value that is not finite must show, so its scale is NaN.
template <class V>
[[gnu::always_inline]] inline CodeScale code_scale(float largest) {
  if (largest >= 1e-30f) return {largest / 127.0f, 127.0f / largest};
  return {largest < 1e-30f ? 0.0f : __builtin_nanf(""), 0.0f};
}

/// Rotates and encodes one key. The rotation runs twice, for the scale and for the codes: it needs
/// no memory for a whole key then.
template <class V>
[[gnu::always_inline]] inline float encode_key(const float* k, size_t n, int8_t* to) {
  const size_t block = rotation_size<V>(n);
  alignas(64) float rotated[256];
  float largest = 0.0f;
  for (size_t d = 0; d < n; d += block) {
    std::memcpy(rotated, k + d, block * sizeof(float));
    rotate<V>(rotated, block);
    const float in_block = largest_magnitude<V>(rotated, block);
    // The product is 0, or NaN once a block held NaN.
    largest = in_block < largest ? largest : in_block + largest * 0.0f;
  }
  const CodeScale code = code_scale<V>(largest);
  for (size_t d = 0; d < n; d += block) {
    for (size_t i = 0; i < block; ++i) rotated[i] = code.inverse == 0.0f ? 0.0f : k[d + i];
    rotate<V>(rotated, block);
    encode<V>(rotated, block, code.inverse, to + d * kKeyTile, kKeyTile);
  }
  return code.scale / static_cast<float>(block);
}

template <class V>
[[gnu::always_inline]] inline float encode_value(const float* v, size_t n, int8_t* to) {
  const CodeScale code = code_scale<V>(largest_magnitude<V>(v, n));
  if (code.inverse == 0.0f) {
    std::memset(to, 0, n);
  } else {
    encode<V>(v, n, code.inverse, to, 1);
  }
  return code.scale;
}

template <class T>
[[gnu::always_inline]] inline void write_kv_i8(const KvWriteArgs& args) {
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
      const size_t at = head * kv.capacity + position;
      int8_t* key = kv.key_codes + (head * kv.capacity + tile) * kv.key_size + position % kKeyTile;
      kv.key_scales[at] = encode_key<V>(k + head * kv.key_size, kv.key_size, key);
      kv.value_scales[at] = encode_value<V>(v + head * kv.value_size, kv.value_size,
                                            kv.value_codes + at * kv.value_size);
    }
  }
}

}  // namespace tandem::kernels::attention
