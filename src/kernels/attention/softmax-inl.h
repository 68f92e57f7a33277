#pragma once

// One step of the online softmax: a tile's scores over a block of positions become weights, and
// what the rows have gathered so far is rescaled to the new maxima.

#include <cstddef>

#include "kernels/attention/scratch.h"
#include "kernels/simd/math-inl.h"

namespace tandem::kernels::attention {

/// Positions [begin, end) of a block, relative to its first one.
struct Span {
  size_t begin;
  size_t end;
};

/// What turns a plain product into a score.
struct ScoreRule {
  float scale;
  float softcap;            ///< 0 for none
  const float* key_scales;  ///< of the block's positions, or null
};

/// Lanes outside `seen` become -infinity, whatever they hold; lane 0 is position `first`.
template <class V>
[[gnu::always_inline]] inline V hide_unseen(V score, size_t first, Span seen) {
  const V nothing = V::set1(-__builtin_inff());
  const V position = V::iota() + V::set1(static_cast<float>(first));
  const V begin = V::set1(static_cast<float>(seen.begin));
  const V end = V::set1(static_cast<float>(seen.end));
  const V late = V::select_less(position, end, score, nothing);
  return V::select_less(position, begin, nothing, late);
}

/// Scales, caps and hides the scores of one row over `columns` (multiples of 16) in place; returns
/// their maximum.
template <class V>
[[gnu::always_inline]] inline float finish_scores(float* scores, ScoreRule rule, Span columns,
                                                  Span seen) {
  const bool hides = seen.begin > columns.begin || seen.end < columns.end;
  const V scale = V::set1(rule.scale);
  V best = V::set1(-__builtin_inff());
  for (size_t i = columns.begin; i < columns.end; i += 16) {
    V score = V::load(scores + i);
    score = score * (rule.key_scales == nullptr ? scale : V::load(rule.key_scales + i) * scale);
    if (rule.softcap != 0.0f) {
      score = V::set1(rule.softcap) * tanh(score * V::set1(1.0f / rule.softcap));
    }
    if (hides) score = hide_unseen(score, i, seen);
    score.store(scores + i);
    best = V::max(best, score);
  }
  return V::reduce_max(best);
}

/// Replaces the scores of one row by e^(score - maximum), and adds these to its lane totals. What
/// is stored is times the value scales, where there are any.
template <class V>
[[gnu::always_inline]] inline void weigh_scores(float* scores, Span columns, float maximum,
                                                const float* value_scales, float* totals) {
  V total = V::load(totals);
  for (size_t i = columns.begin; i < columns.end; i += 16) {
    const V weight = exp(V::load(scores + i) - V::set1(maximum));
    const V stored = value_scales == nullptr ? weight : weight * V::load(value_scales + i);
    stored.store(scores + i);
    total = total + weight;
  }
  total.store(totals);
}

/// What a tile of rows has gathered; row r at r times the stride of its array.
struct Gathered {
  float* maxima;  ///< (rows)
  float* totals;  ///< (rows, 16)
  float* sums;    ///< (rows, value_padded)
  size_t value_padded;
};

/// Moves `n_rows` rows to their new maxima: totals and sums times e^(old - new). A row whose
/// maximum stays is left alone, which is the same: e^0 is exactly 1.
template <class V>
[[gnu::always_inline]] inline void rescale(const Gathered& rows, size_t n_rows,
                                           const float* new_maxima) {
  alignas(64) float factors[16] = {};
  for (size_t r = 0; r < n_rows; ++r) factors[r] = rows.maxima[r] - new_maxima[r];
  exp(V::load(factors)).store(factors);
  for (size_t r = 0; r < n_rows; ++r) {
    if (rows.maxima[r] == new_maxima[r]) continue;
    const V factor = V::set1(factors[r]);
    rows.maxima[r] = new_maxima[r];
    (V::load(rows.totals + r * 16) * factor).store(rows.totals + r * 16);
    float* sums = rows.sums + r * rows.value_padded;
    for (size_t i = 0; i < rows.value_padded; i += 16) (V::load(sums + i) * factor).store(sums + i);
  }
}

}  // namespace tandem::kernels::attention
