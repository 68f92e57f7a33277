#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem {

/// How much a squared error of INT8 counts against one of INT4 when s is chosen
/// (docs/nested_format.md).
inline constexpr float kLowPlaneWeight = 30.0f;

/// Codes of one group of 32 weights: w4 = scale h, w8 = scale (h + l 2^-e).
struct NestedGroup {
  uint16_t scale = 0;  ///< f16
  int8_t h[32] = {};   ///< -8 to 7
  int8_t l[32] = {};   ///< -8 to 7; at e = 4 not negative where h = -8
};

/// The codes of `w` (32) at a given scale: c = 2^e h + l nearest to w 2^e / s, h nearest to w / s.
/// Scales of zero give zero codes.
NestedGroup nested_codes(const float* w, uint16_t scale, uint32_t shift);

/// Chooses the scale, by search and least squares, and all codes to minimise E4 + low_weight E8
/// over 32 finite weights; with a low_weight of 0 it fits INT4 alone. `importance` (32) weighs the
/// squared errors; null: equally. Deterministic.
NestedGroup fit_nested_group(const float* w, const float* importance, uint32_t shift,
                             float low_weight = kLowPlaneWeight);

/// Writes a group where a Q4_0 tensor and a low plane hold it: 18 and 16 bytes.
void put_nested_group(const NestedGroup& group, std::byte* high, std::byte* low);

/// Both planes of a row of `columns` weights, a multiple of 32. `importance` (columns) or null.
void encode_nested_row(const float* w, const float* importance, size_t columns, uint32_t shift,
                       std::byte* high, std::byte* low);

/// The low plane of a row whose Q4_0 blocks are given: l nearest to what they leave of `w`.
void refine_row(const float* w, const std::byte* high, size_t columns, uint32_t shift,
                std::byte* low);

/// Squared errors of both readings of an encoded row against `w`.
struct NestedErrors {
  double high = 0, both = 0, weights = 0;  ///< the last: sum of w^2
};
void add_nested_errors(const float* w, const std::byte* high, const std::byte* low, size_t columns,
                       uint32_t shift, NestedErrors& out);

}  // namespace tandem
