#pragma once

// The slow double-precision reference of the attention tests, with its error bound.

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "kernels/attention/attention_test_data.h"

namespace tandem::kernels::attention_test {

struct Expected {
  double value;
  double bound;  ///< on |computed - value|
};

inline double f16_rounded(float x) { return static_cast<double>(f16_to_f32(f32_to_f16(x))); }

/// What the cache is to hold of a position: f16 by its definition, codes as they were written, for
/// another test compares these with the keys and values.
inline double key_element(const Problem& p, KvStorage storage, size_t head, size_t t, size_t d) {
  if (storage == KvStorage::kF16) {
    return f16_rounded(p.k[t * p.k_row + head * p.shape.key_size + d]);
  }
  return static_cast<double>(p.key_codes[p.key_index(head, t, d)]) *
         p.key_scales[head * p.capacity + t];
}
inline double value_element(const Problem& p, KvStorage storage, size_t head, size_t t, size_t d) {
  if (storage == KvStorage::kF16) {
    return f16_rounded(p.v[t * p.v_row + head * p.shape.value_size + d]);
  }
  return static_cast<double>(p.value_codes[p.value_index(head, t, d)]) *
         p.value_scales[head * p.capacity + t];
}

/// sum_j (-1)^popcount(i & j) x[j] over each block of `block` elements: the definition.
inline std::vector<double> rotated(const std::vector<double>& x, size_t block) {
  std::vector<double> out(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = i / block * block; j < i / block * block + block; ++j) {
      out[i] += std::popcount(i % block & j % block) % 2 == 0 ? x[j] : -x[j];
    }
  }
  return out;
}
inline size_t rotation_block(size_t key_size) {
  return std::min<size_t>(256, size_t{1} << std::countr_zero(key_size));
}

/// The formula of AttentionArgs in double over what the cache holds, for one position and head;
/// `value_size` results. The bound follows docs/attention.md's order of operations.
inline std::vector<Expected> reference(const Problem& p, KvStorage storage, size_t position,
                                       size_t head) {
  const Shape& s = p.shape;
  const size_t kv_head = head / (s.n_heads / s.n_kv_heads);
  const double u = std::ldexp(1.0, -24);
  const size_t begin = s.window == 0 || position < s.window ? 0 : position - s.window + 1;
  const float* q_floats = p.q.data() + position * p.q_row + head * s.key_size;
  std::vector<double> q(q_floats, q_floats + s.key_size), q_bounds(s.key_size);
  if (storage == KvStorage::kI8) {
    const size_t block = rotation_block(s.key_size);
    for (size_t d = 0; d < s.key_size; ++d) {
      // One addition a stage, each within u of the sum of the magnitudes.
      for (size_t j = 0; j < block; ++j) q_bounds[d] += std::abs(q[d / block * block + j]);
      q_bounds[d] *= u * std::countr_zero(block);
    }
    q = rotated(q, block);
  }
  std::vector<double> scores, score_bounds;
  for (size_t t = begin; t <= position; ++t) {
    double sum = 0, magnitude = 0, q_bound = 0;
    for (size_t d = 0; d < s.key_size; ++d) {
      const double key = key_element(p, storage, kv_head, t, d);
      sum += q[d] * key;
      magnitude += std::abs(q[d] * key);
      q_bound += q_bounds[d] * std::abs(key);
    }
    const double scale = p.scale();
    double score = scale * sum;
    // key_size fused additions, the scaling, and with codes the product of the two scales.
    double bound = scale * (static_cast<double>(s.key_size + 2) * u * magnitude + q_bound);
    if (s.softcap != 0.0f) {
      // 1/softcap and the product round once each; tanh is within 4 units (8 u) of at most 1.
      bound += 2 * u * std::abs(score);
      score = s.softcap * std::tanh(score / s.softcap);
      bound += 10 * u * s.softcap;
    }
    scores.push_back(score);
    score_bounds.push_back(bound);
  }
  const double maximum = *std::max_element(scores.begin(), scores.end());
  const double steps = static_cast<double>(position / 64 - begin / 64 + 1);
  double total = 0;
  std::vector<double> weights, weight_bounds;
  for (size_t i = 0; i < scores.size(); ++i) {
    const double below = maximum - scores[i];
    // Relative: the score's error, the rounding of its distance to the maxima, exp (2 units) for
    // the weight and for each rescaling, one multiplication a rescaling, one addition a position,
    // the value's scale.
    const double relative = score_bounds[i] + 2 * u * (below + score_bounds[i]) +
                            4 * u * (1 + steps) + u * (steps + 1) +
                            u * static_cast<double>(scores.size());
    weights.push_back(std::exp(-below));
    weight_bounds.push_back(std::expm1(relative) * weights[i] + std::ldexp(1.0, -126));
    total += weights[i];
  }
  double total_bound = 0;
  for (double b : weight_bounds) total_bound += b / total;
  std::vector<Expected> out;
  for (size_t d = 0; d < s.value_size; ++d) {
    double sum = 0, bound = 0, magnitude = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      const double v = value_element(p, storage, kv_head, begin + i, d);
      sum += weights[i] * v / total;
      bound += weight_bounds[i] * std::abs(v) / total;
      magnitude += weights[i] * std::abs(v) / total;
    }
    // The quotient of two sums with their errors, and the division's rounding.
    out.push_back(
        {sum, (bound + total_bound * magnitude) * (1 + 2 * total_bound) + u * std::abs(sum)});
  }
  return out;
}

}  // namespace tandem::kernels::attention_test
