#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/linear/linear.h"

// Float activations to int8 codes, once over the sixteen-lane vector V of an ISA and its integer
// side `Codes`:
//   largest_magnitude(V, V)   the largest |x| bit pattern of 32 floats, as an integer
//   round(V)                  sixteen int32 lanes, nearest, ties to even
//   sum, store (of two roundings, 32 bytes)

namespace tandem::kernels {

inline constexpr uint32_t kInfinityBits = 0x7f800000;
/// The code that the largest magnitude of a group may get. Near 127 the step hardly grows, but all
/// codes of the group round anew, so the best of three has about 12 % less squared error than 127
/// alone (docs/numerics.md).
inline constexpr float kLargestCodes[] = {127.0f, 126.0f, 125.0f};
inline constexpr int kLargestCodeCount = 3;
/// Below it 127 / max would overflow.
inline constexpr float kSmallestMagnitude = 0x1p-120f;

/// What a group that has no finite, usable codes gets.
[[gnu::always_inline]] inline void put_empty_group(float scale, int8_t* codes, float* scales,
                                                   int16_t* sums) {
  std::memset(codes, 0, kActivationGroup);
  *scales = scale;
  sums[0] = sums[1] = 0;
}

/// The codes of a group, still as floats, when its largest magnitude gets the code `largest_code`.
template <class V>
struct Rounding {
  V low, high;  ///< elements 0-15 and 16-31
  float error;  ///< sum (x - q step)^2, step = max / largest_code

  [[gnu::always_inline]] static Rounding of(V x_low, V x_high, float max, float largest_code) {
    const V inverse = V::set1(largest_code / max), back = V::set1(-(max / largest_code));
    const V low = V::round(x_low * inverse), high = V::round(x_high * inverse);
    const V low_error = V::fma(low, back, x_low), high_error = V::fma(high, back, x_high);
    return {low, high, V::reduce_add(V::fma(high_error, high_error, low_error * low_error))};
  }
};

template <class V, class Codes>
[[gnu::always_inline]] inline void quantize_group(const float* x, int8_t* codes, float* scale,
                                                  int16_t* sums) {
  const V low = V::load(x), high = V::load(x + 16);
  const uint32_t max_bits = Codes::largest_magnitude(low, high);
  if (max_bits >= kInfinityBits) return put_empty_group(__builtin_nanf(""), codes, scale, sums);
  float max;
  std::memcpy(&max, &max_bits, sizeof max);
  if (max < kSmallestMagnitude) return put_empty_group(0.0f, codes, scale, sums);

  Rounding<V> best = Rounding<V>::of(low, high, max, kLargestCodes[0]);
  for (int i = 1; i < kLargestCodeCount; ++i) {
    const Rounding<V> other = Rounding<V>::of(low, high, max, kLargestCodes[i]);
    if (other.error < best.error) best = other;
  }
  const auto q_low = Codes::round(best.low), q_high = Codes::round(best.high);
  Codes::store(codes, q_low, q_high);
  sums[0] = static_cast<int16_t>(Codes::sum(q_low));
  sums[1] = static_cast<int16_t>(Codes::sum(q_high));
  // Least squares: sum(x q) / sum(q q); the denominator is an exact integer below 2^24.
  *scale = V::reduce_add(V::fma(high, best.high, low * best.low)) /
           V::reduce_add(V::fma(best.high, best.high, best.low * best.low));
}

template <class V, class Codes>
[[gnu::always_inline]] inline void quantize_rows_of(const QuantizeArgs& a) {
  const size_t n_groups = a.k / kActivationGroup;
  for (size_t row = 0; row < a.n_rows; ++row) {
    const float* x =
        reinterpret_cast<const float*>(reinterpret_cast<const std::byte*>(a.x) + row * a.x_stride);
    int8_t* codes = a.out.codes + row * a.k;
    float* scales = a.out.scales + row * n_groups;
    int16_t* sums = a.out.sums + row * n_groups * 2;
    for (size_t g = 0; g < n_groups; ++g) {
      quantize_group<V, Codes>(x + g * kActivationGroup, codes + g * kActivationGroup, scales + g,
                               sums + 2 * g);
    }
  }
}

}  // namespace tandem::kernels
