// Scales and codes of nested weights without error feedback.

#include "quantize/nested_fit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tensor/blocks/q4_0.h"
#include "tensor/blocks/rounding.h"
#include "tensor/nested_tensor.h"

namespace tandem {
namespace {

constexpr int kGroup = 32;
/// Sums run in eight lanes, so that the compiler may use vectors and the order is still fixed.
constexpr int kLanes = 8;
/// Candidate scales: the smallest without overflow times these. Below, INT8 clips; above, INT4
/// grows coarse. The best is surrounded in finer steps.
constexpr float kFirstFactor = 0.95f, kLastFactor = 1.15f, kCoarseStep = 0.03f;
/// INT4 alone gains by clipping.
constexpr float kFirstFactorAlone = 0.76f;
constexpr int kRefinements = 4;

/// Integers as floats, rounded to nearest even; |x| < 2^21.
inline float rounded(float x) { return (x + 0x1.8p23f) - 0x1.8p23f; }
inline float clamped(float x, float low, float high) {
  const float above = x > low ? x : low;
  return above < high ? above : high;
}

/// h and the code in units of s, both as floats.
struct Codes {
  float h, whole;
};
/// e = 4: the nearest allowed code c of 16 x, and the h that it contains.
inline Codes codes_of_4(float x) {
  const float c = clamped(rounded(16.0f * x), -128.0f, 119.0f);
  // c = 16 h + l with l from -8 to 7: h = floor((c + 8) / 16), exactly.
  const float h = rounded(c * 0.0625f + 0x1p-6f);
  return {h, c * 0.0625f};
}
/// e = 3: the nearest h, and the nearest l to what it leaves.
inline Codes codes_of_3(float x) {
  const float h = clamped(rounded(x), -8.0f, 7.0f);
  const float l = clamped(rounded(8.0f * (x - h)), -8.0f, 7.0f);
  return {h, h + 0.125f * l};
}
template <int shift>
inline Codes codes_of(float x) {
  return shift == 4 ? codes_of_4(x) : codes_of_3(x);
}

float sum_of_lanes(const float* lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

/// What the search minimises.
struct Objective {
  const float* w;  ///< (32)
  const float* a;  ///< (32) importance
  float low_weight;
};

/// E4 + low_weight E8 at a scale.
template <int shift>
float error_at(const Objective& o, float scale) {
  const float inverse = 1.0f / scale;
  float lanes[kLanes] = {};
  for (int i = 0; i < kGroup; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) {
      const float x = o.w[i + j] * inverse;
      const Codes c = codes_of<shift>(x);
      const float high = x - c.h, both = x - c.whole;
      lanes[j] += o.a[i + j] * (high * high + o.low_weight * both * both);
    }
  }
  return sum_of_lanes(lanes) * scale * scale;
}

/// The best scale for the codes that `scale` gives, by least squares.
template <int shift>
float refitted(const Objective& o, float scale) {
  const float inverse = 1.0f / scale;
  float above[kLanes] = {}, below[kLanes] = {};
  for (int i = 0; i < kGroup; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) {
      const Codes c = codes_of<shift>(o.w[i + j] * inverse);
      above[j] += o.a[i + j] * o.w[i + j] * (c.h + o.low_weight * c.whole);
      below[j] += o.a[i + j] * (c.h * c.h + o.low_weight * c.whole * c.whole);
    }
  }
  const float denominator = sum_of_lanes(below);
  return denominator > 0 ? sum_of_lanes(above) / denominator : 0.0f;
}

struct Choice {
  uint16_t scale = 0;
  float error = INFINITY;
};

/// Whether the scale is better than all before.
template <int shift>
bool consider(const Objective& o, float scale, Choice& best) {
  const uint16_t stored = f32_to_f16(scale);
  const float exact = f16_to_f32(stored);
  if (exact == 0.0f || !std::isfinite(exact) || stored == best.scale) return false;
  const float error = error_at<shift>(o, exact);
  if (!(error < best.error)) return false;
  best = {stored, error};
  return true;
}

template <int shift>
uint16_t choose_scale(const Objective& o) {
  const auto [low, high] = blocks::range_of(o.w, kGroup);
  // The largest code of each side in units of s.
  const float upper = shift == 4 ? 119.0f / 16 : 63.0f / 8, lower = shift == 4 ? 8.0f : 9.0f;
  const float positive = std::max(high / upper, -low / lower);
  const float negative = std::max(-low / upper, high / lower);
  if (!(positive > 0.0f)) return 0;
  Choice best;
  const float first = o.low_weight > 0 ? kFirstFactor : kFirstFactorAlone;
  float centre = positive;
  for (float factor = first; factor < kLastFactor; factor += kCoarseStep) {
    for (const float scale : {positive * factor, -negative * factor}) {
      if (consider<shift>(o, scale, best)) centre = scale;
    }
  }
  for (const float factor : {0.98f, 0.99f, 1.01f, 1.02f}) consider<shift>(o, centre * factor, best);
  for (int i = 0; i < kRefinements && best.scale != 0; ++i) {
    if (!consider<shift>(o, refitted<shift>(o, f16_to_f32(best.scale)), best)) break;
  }
  // All candidates may have vanished below the smallest f16 or passed the largest.
  return best.scale;
}

int stored_nibble(const std::byte* bytes, int i) {
  return static_cast<int>(bytes[i % 16]) >> 4 * (i / 16) & 15;
}

}  // namespace

NestedGroup nested_codes(const float* w, uint16_t scale, uint32_t shift) {
  NestedGroup out;
  const float s = f16_to_f32(scale);
  if (s == 0.0f) return out;
  out.scale = scale;
  const float inverse = 1.0f / s, steps = static_cast<float>(1 << shift);
  for (int i = 0; i < kGroup; ++i) {
    const Codes c = shift == 4 ? codes_of_4(w[i] * inverse) : codes_of_3(w[i] * inverse);
    out.h[i] = static_cast<int8_t>(c.h);
    out.l[i] = static_cast<int8_t>((c.whole - c.h) * steps);
  }
  return out;
}

NestedGroup fit_nested_group(const float* w, const float* importance, uint32_t shift,
                             float low_weight) {
  float equal[kGroup];
  if (importance == nullptr) std::fill_n(equal, kGroup, 1.0f);
  const Objective o{w, importance == nullptr ? equal : importance, low_weight};
  return nested_codes(w, shift == 4 ? choose_scale<4>(o) : choose_scale<3>(o), shift);
}

void put_nested_group(const NestedGroup& group, std::byte* high, std::byte* low) {
  BlockQ4_0 block{group.scale, {}};
  for (int i = 0; i < 16; ++i) {
    block.qs[i] = static_cast<uint8_t>((group.h[i] + 8) | (group.h[i + 16] + 8) << 4);
    low[i] = static_cast<std::byte>((group.l[i] + 8) | (group.l[i + 16] + 8) << 4);
  }
  std::memcpy(high, &block, sizeof block);
}

void encode_nested_row(const float* w, const float* importance, size_t columns, uint32_t shift,
                       std::byte* high, std::byte* low) {
  for (size_t i = 0; i < columns; i += kGroup) {
    const float* a = importance == nullptr ? nullptr : importance + i;
    put_nested_group(fit_nested_group(w + i, a, shift), high, low);
    high += sizeof(BlockQ4_0);
    low += kLowGroupBytes;
  }
}

void refine_row(const float* w, const std::byte* high, size_t columns, uint32_t shift,
                std::byte* low) {
  const float steps = static_cast<float>(1 << shift);
  for (size_t g = 0; g < columns / kGroup; ++g, w += kGroup, low += kLowGroupBytes) {
    BlockQ4_0 block;
    std::memcpy(&block, high + g * sizeof block, sizeof block);
    const float s = f16_to_f32(block.d);
    NestedGroup group;
    group.scale = block.d;
    for (int i = 0; i < kGroup; ++i) {
      const int h = (block.qs[i % 16] >> 4 * (i / 16) & 15) - 8;
      const float left = s == 0.0f ? 0.0f : steps * (w[i] / s - static_cast<float>(h));
      const int lowest = h == -8 && shift == kNestedMaxShift ? 0 : -8;
      group.h[i] = static_cast<int8_t>(h);
      group.l[i] = static_cast<int8_t>(blocks::round_within(left, lowest, 7));
    }
    std::byte same[sizeof(BlockQ4_0)];
    put_nested_group(group, same, low);
  }
}

void add_nested_errors(const float* w, const std::byte* high, const std::byte* low, size_t columns,
                       uint32_t shift, NestedErrors& out) {
  const double unit = 1.0 / (1 << shift);
  for (size_t g = 0; g < columns / kGroup; ++g, w += kGroup, low += kLowGroupBytes) {
    BlockQ4_0 block;
    std::memcpy(&block, high + g * sizeof block, sizeof block);
    const double s = f16_to_f32(block.d);
    for (int i = 0; i < kGroup; ++i) {
      const int h = (block.qs[i % 16] >> 4 * (i / 16) & 15) - 8;
      const double e4 = w[i] - s * h, e8 = w[i] - s * (h + (stored_nibble(low, i) - 8) * unit);
      out.high += e4 * e4;
      out.both += e8 * e8;
      out.weights += static_cast<double>(w[i]) * w[i];
    }
  }
}

}  // namespace tandem
