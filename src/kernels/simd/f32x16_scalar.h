#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "tensor/f16.h"

namespace tandem::kernels::scalar {

/// Sixteen floats. Every ISA has a type of this name and interface, so that an op is written once
/// over it and gives the same bits everywhere: lanes, order of reduction and fusing are fixed here.
struct F32x16 {
  float lane[16];

  static F32x16 zero() { return set1(0.0f); }
  static F32x16 set1(float x) {
    return make([&](int) { return x; });
  }
  static F32x16 load(const float* p) {
    return make([&](int i) { return p[i]; });
  }
  /// The first `n` <= 16 lanes from memory, the others `fill`.
  static F32x16 load_partial(const float* p, int n, float fill = 0.0f) {
    return make([&](int i) { return i < n ? p[i] : fill; });
  }
  static F32x16 load_f16(const uint16_t* p) {
    return make([&](int i) { return f16_to_f32(p[i]); });
  }
  static F32x16 load_bf16(const uint16_t* p) {
    return make([&](int i) { return bf16_to_f32(p[i]); });
  }
  /// The lanes 0, 1, 2, ... 15.
  static F32x16 iota() {
    return make([](int i) { return static_cast<float>(i); });
  }

  void store(float* p) const { std::memcpy(p, lane, sizeof lane); }
  void store_partial(float* p, int n) const { std::memcpy(p, lane, sizeof(float) * n); }
  void store_f16(uint16_t* p) const {
    for (int i = 0; i < 16; ++i) p[i] = f32_to_f16(lane[i]);
  }

  friend F32x16 operator+(F32x16 a, F32x16 b) {
    return make([&](int i) { return a.lane[i] + b.lane[i]; });
  }
  /// Flips the sign bit.
  friend F32x16 operator-(F32x16 a) {
    return make([&](int i) { return -a.lane[i]; });
  }
  friend F32x16 operator-(F32x16 a, F32x16 b) {
    return make([&](int i) { return a.lane[i] - b.lane[i]; });
  }
  friend F32x16 operator*(F32x16 a, F32x16 b) {
    return make([&](int i) { return a.lane[i] * b.lane[i]; });
  }
  friend F32x16 operator/(F32x16 a, F32x16 b) {
    return make([&](int i) { return a.lane[i] / b.lane[i]; });
  }
  /// a * b + c, rounded once.
  static F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
    return make([&](int i) { return __builtin_fmaf(a.lane[i], b.lane[i], c.lane[i]); });
  }
  /// As the x86 instruction: `b` when either is NaN.
  static F32x16 max(F32x16 a, F32x16 b) {
    return make([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static F32x16 min(F32x16 a, F32x16 b) {
    return make([&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static F32x16 abs(F32x16 a) {
    return make([&](int i) { return std::fabs(a.lane[i]); });
  }
  /// `yes` where a < b, else `no`.
  static F32x16 select_less(F32x16 a, F32x16 b, F32x16 yes, F32x16 no) {
    return make([&](int i) { return a.lane[i] < b.lane[i] ? yes.lane[i] : no.lane[i]; });
  }
  /// To the nearest integer, ties to even.
  static F32x16 round(F32x16 a) {
    return make([&](int i) { return std::nearbyintf(a.lane[i]); });
  }
  /// a * 2^n, rounded once, for integral n in [-252, 252] and 0.5 <= |a| <= 2, 0, infinite or NaN.
  /// (Of the two multiplications here only the second can round; a smaller a would round twice.)
  static F32x16 scale_by_power_of_2(F32x16 a, F32x16 n) {
    return make([&](int i) {
      if (n.lane[i] != n.lane[i]) return n.lane[i];
      const int whole = static_cast<int>(n.lane[i]);
      const int half = whole >> 1;
      return a.lane[i] * power_of_2(half) * power_of_2(whole - half);
    });
  }

  /// Pairwise by halves: lanes i and i + 8, then i + 4, i + 2, i + 1.
  static float reduce_add(F32x16 a) {
    for (int width = 8; width > 0; width /= 2) {
      for (int i = 0; i < width; ++i) a.lane[i] += a.lane[i + width];
    }
    return a.lane[0];
  }
  /// In the same order, each step as `max`: a NaN may be lost.
  static float reduce_max(F32x16 a) {
    for (int width = 8; width > 0; width /= 2) {
      for (int i = 0; i < width; ++i) {
        a.lane[i] = a.lane[i] > a.lane[i + width] ? a.lane[i] : a.lane[i + width];
      }
    }
    return a.lane[0];
  }
  /// The lanes 0, 2, 4, ... 30 of the 32 in `low` and `high` to `even`, the others to `odd`.
  static void deinterleave(F32x16 low, F32x16 high, F32x16& even, F32x16& odd) {
    even = make([&](int i) { return i < 8 ? low.lane[2 * i] : high.lane[2 * i - 16]; });
    odd = make([&](int i) { return i < 8 ? low.lane[2 * i + 1] : high.lane[2 * i - 15]; });
  }
  /// The inverse.
  static void interleave(F32x16 even, F32x16 odd, F32x16& low, F32x16& high) {
    low = make([&](int i) { return i % 2 ? odd.lane[i / 2] : even.lane[i / 2]; });
    high = make([&](int i) { return i % 2 ? odd.lane[8 + i / 2] : even.lane[8 + i / 2]; });
  }

 private:
  template <class F>
  static F32x16 make(F f) {
    F32x16 out;
    for (int i = 0; i < 16; ++i) out.lane[i] = f(i);
    return out;
  }
  static float power_of_2(int n) { return std::bit_cast<float>((n + 127) << 23); }
};

}  // namespace tandem::kernels::scalar
