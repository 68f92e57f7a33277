#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/linear/linear.h"

// Float activations to int8 codes, once over the sixteen-lane vector V of an ISA and what `Ops`
// adds to it. Sixteen groups go together, so that what is one number for each group - magnitude,
// step, error - is one vector for all of them:
//   largest_magnitudes   the largest |x| of each group's 32 floats, compared as bit patterns
//   any_outside          whether the bit pattern of some lane is outside [low, high)
//   reduce_add_each      V::reduce_add of each of sixteen vectors
//   store_codes          32 bytes of two vectors of whole numbers
//   store_sums           two vectors of whole numbers as sixteen pairs of int16

namespace tandem::kernels {

inline constexpr uint32_t kInfinityBits = 0x7f800000;
/// The code that the largest magnitude of a group may get. Near 127 the step hardly grows, but all
/// codes of the group round anew, so the best of three has about 12 % less squared error than 127
/// alone (docs/numerics.md).
inline constexpr float kLargestCodes[] = {127.0f, 126.0f, 125.0f};
inline constexpr int kLargestCodeCount = 3;
/// Groups that become codes together.
inline constexpr int kBatch = 16;
/// 2^-120 as a bit pattern; below it 127 / max would overflow.
inline constexpr uint32_t kSmallestMagnitudeBits = (127 - 120) << 23;

/// Sixteen groups while they become codes. Lane g of a V that is not an array belongs to group g.
template <class V, class Ops>
struct QuantizeBatch {
  V low[kBatch], high[kBatch];  ///< elements 0-15 and 16-31; zero in groups set aside
  V max;                        ///< largest magnitudes; 1 in groups set aside
  V inverse;                    ///< largest code / max, with the best largest code so far
  V error;                      ///< sum (x - q max / largest code)^2 of that one
  bool has_empty;               ///< groups set aside: without finite, usable codes
  bool is_empty[kBatch];
  float empty_scale[kBatch];

  [[gnu::always_inline]] void load(const float* x, int n) {
    for (int g = 0; g < kBatch; ++g) {
      const float* group = x + g * kActivationGroup;
      low[g] = g < n ? V::load(group) : V::zero();
      high[g] = g < n ? V::load(group + kActivationHalf) : V::zero();
    }
    max = Ops::largest_magnitudes(low, high);
    has_empty = Ops::any_outside(max, kSmallestMagnitudeBits, kInfinityBits);
    if (has_empty) [[unlikely]]
      set_empty_aside();
  }
  [[gnu::noinline]] void set_empty_aside() {
    float magnitudes[kBatch];
    uint32_t bits[kBatch];
    max.store(magnitudes);
    std::memcpy(bits, magnitudes, sizeof bits);
    for (int g = 0; g < kBatch; ++g) {
      const bool is_finite = bits[g] < kInfinityBits;
      is_empty[g] = !is_finite || bits[g] < kSmallestMagnitudeBits;
      empty_scale[g] = is_finite ? 0.0f : __builtin_nanf("");
      if (!is_empty[g]) continue;
      magnitudes[g] = 1.0f;
      low[g] = high[g] = V::zero();
    }
    max = V::load(magnitudes);
  }

  /// Rounds with the largest magnitudes at `largest_code` and keeps it where it is better.
  template <bool is_first>
  [[gnu::always_inline]] void try_code(float largest_code) {
    const V tried = V::set1(largest_code) / max;
    float scales[kBatch], minus_steps[kBatch];
    tried.store(scales);
    (-(max / V::set1(largest_code))).store(minus_steps);
    V squares[kBatch];
    for (int g = 0; g < kBatch; ++g) {
      const V scale = V::set1(scales[g]), back = V::set1(minus_steps[g]);
      const V low_error = V::fma(V::round(low[g] * scale), back, low[g]);
      const V high_error = V::fma(V::round(high[g] * scale), back, high[g]);
      squares[g] = V::fma(high_error, high_error, low_error * low_error);
    }
    const V tried_error = Ops::reduce_add_each(squares);
    inverse = is_first ? tried : V::select_less(tried_error, error, tried, inverse);
    error = is_first ? tried_error : V::select_less(tried_error, error, tried_error, error);
  }

  /// The first n groups.
  [[gnu::always_inline]] void store(int n, int8_t* codes, float* scales, int16_t* sums) {
    V products[kBatch], squares[kBatch], q_low[kBatch], q_high[kBatch];
    float scale_of[kBatch];
    inverse.store(scale_of);
    for (int g = 0; g < kBatch; ++g) {
      const V scale = V::set1(scale_of[g]);
      q_low[g] = V::round(low[g] * scale);
      q_high[g] = V::round(high[g] * scale);
      products[g] = V::fma(high[g], q_high[g], low[g] * q_low[g]);
      squares[g] = V::fma(q_high[g], q_high[g], q_low[g] * q_low[g]);
    }
    for (int g = 0; g < n; ++g) Ops::store_codes(codes + g * kActivationGroup, q_low[g], q_high[g]);
    // Sums of codes are exact: whole numbers far below 2^24.
    int16_t sum[2 * kBatch];
    Ops::store_sums(sum, Ops::reduce_add_each(q_low), Ops::reduce_add_each(q_high));
    std::memcpy(sums, sum, 2 * n * sizeof(int16_t));
    // Least squares: sum(x q) / sum(q q); the denominator is exact too.
    const V fitted = Ops::reduce_add_each(products) / Ops::reduce_add_each(squares);
    fitted.store_partial(scales, n);
    if (!has_empty) return;
    for (int g = 0; g < n; ++g) scales[g] = is_empty[g] ? empty_scale[g] : scales[g];
  }
};

/// HOT: linear_bench.
template <class V, class Ops>
[[gnu::always_inline]] inline void quantize_rows_of(const QuantizeArgs& a) {
  const size_t n_groups = a.k / kActivationGroup;
  QuantizeBatch<V, Ops> batch;
  for (size_t row = 0; row < a.n_rows; ++row) {
    const float* x =
        reinterpret_cast<const float*>(reinterpret_cast<const std::byte*>(a.x) + row * a.x_stride);
    for (size_t g = 0; g < n_groups; g += kBatch) {
      const size_t left = n_groups - g;
      const int n = left < kBatch ? static_cast<int>(left) : kBatch;
      const size_t at = row * n_groups + g;
      batch.load(x + g * kActivationGroup, n);
      batch.template try_code<true>(kLargestCodes[0]);
      for (int i = 1; i < kLargestCodeCount; ++i) {
        batch.template try_code<false>(kLargestCodes[i]);
      }
      batch.store(n, a.out.codes + at * kActivationGroup, a.out.scales + at, a.out.sums + 2 * at);
    }
  }
}

}  // namespace tandem::kernels
