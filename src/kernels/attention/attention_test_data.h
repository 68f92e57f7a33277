#pragma once

// What the attention tests share: problems with padded strides, a hostile cache and a forbidden
// page behind every array; a plain double-precision reference with its error bound.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/attention/attention.h"
#include "tensor/f16.h"
#include "tests/support/guarded_array.h"
#include "tests/support/kernel_rows.h"

namespace tandem::kernels::attention_test {

using testing_support::GuardedArray;

struct Shape {
  size_t n_heads = 4;
  size_t n_kv_heads = 2;
  size_t key_size = 16;
  size_t value_size = 16;
  size_t n = 40;  ///< positions
  size_t window = 0;
  float softcap = 0.0f;
  float q_spread = 1.0f;  ///< standard deviation of the queries

  friend void PrintTo(const Shape& s, std::ostream* out) {
    *out << s.n_heads << "/" << s.n_kv_heads << " heads, sizes " << s.key_size << "/"
         << s.value_size << ", " << s.n << " positions, window " << s.window << ", softcap "
         << s.softcap << ", q spread " << s.q_spread;
  }
};

inline constexpr size_t kPadding = 3;  ///< floats between rows that nobody may rely on
inline constexpr float kUntouched = 12345.0f;

/// Queries, keys and values of `n` positions and a cache for them, full of NaN at first.
struct Problem {
  explicit Problem(const Shape& s, unsigned seed = 1)
      : shape(s),
        q_row(s.n_heads * s.key_size + kPadding),
        k_row(s.n_kv_heads * s.key_size + kPadding),
        v_row(s.n_kv_heads * s.value_size + kPadding),
        out_row(s.n_heads * s.value_size + kPadding),
        capacity((s.n + kKeyTile - 1) / kKeyTile * kKeyTile),
        q(s.n * q_row - kPadding),
        k(s.n * k_row - kPadding),
        v(s.n * v_row - kPadding),
        keys(s.n_kv_heads * capacity * s.key_size),
        values(s.n_kv_heads * capacity * s.value_size),
        scratch(attention_scratch_bytes(s.n_heads, s.n_kv_heads, s.key_size, s.value_size)) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (float& x : q) x = s.q_spread * normal(random);
    for (float& x : k) x = normal(random);
    for (float& x : v) x = normal(random);
    wipe_cache();
  }
  void wipe_cache() {
    std::fill(keys.begin(), keys.end(), uint16_t{0x7fff});
    std::fill(values.begin(), values.end(), uint16_t{0xfe01});
  }

  KvView view() {
    return {.keys = keys.data(),
            .values = values.data(),
            .capacity = capacity,
            .n_kv_heads = shape.n_kv_heads,
            .key_size = shape.key_size,
            .value_size = shape.value_size};
  }
  size_t key_index(size_t head, size_t position, size_t d) const {
    const size_t tile = head * capacity + position / kKeyTile * kKeyTile;
    return tile * shape.key_size + d * kKeyTile + position % kKeyTile;
  }
  size_t value_index(size_t head, size_t position, size_t d) const {
    return (head * capacity + position) * shape.value_size + d;
  }
  float scale() const { return 1.0f / std::sqrt(static_cast<float>(shape.key_size)); }

  /// Writes the positions [begin, end) to the cache.
  void write(const AttentionRow& row, size_t begin, size_t end) {
    row.write({.k = k.data() + begin * k_row,
               .v = v.data() + begin * v_row,
               .k_stride = k_row * sizeof(float),
               .v_stride = v_row * sizeof(float),
               .n_rows = end - begin,
               .first_position = begin,
               .kv = view()});
  }
  /// Attention of the positions [begin, end), in calls of up to `rows_per_call`, into `out`.
  void attend(const AttentionRow& row, size_t begin, size_t end, size_t rows_per_call,
              GuardedArray<float>& out) {
    AttentionArgs args{.q = q.data() + begin * q_row,
                       .out = out.data() + begin * out_row,
                       .q_stride = q_row * sizeof(float),
                       .out_stride = out_row * sizeof(float),
                       .first_position = begin,
                       .row_begin = 0,
                       .row_end = 0,
                       .kv_head = 0,
                       .n_heads = shape.n_heads,
                       .window = shape.window,
                       .scale = scale(),
                       .softcap = shape.softcap,
                       .kv = view(),
                       .scratch = scratch.data()};
    for (args.kv_head = 0; args.kv_head < shape.n_kv_heads; ++args.kv_head) {
      for (size_t at = 0; at < end - begin; at += rows_per_call) {
        args.row_begin = at;
        args.row_end = std::min(at + rows_per_call, end - begin);
        row.run(args);
      }
    }
  }
  /// Feeds all positions in chunks, as prefill and decode do; returns the outputs, row after row
  /// without padding. Checks that the padding was left alone.
  std::vector<float> feed(const AttentionRow& row, size_t chunk, size_t rows_per_call) {
    wipe_cache();
    std::fill(scratch.begin(), scratch.end(), std::byte{0xff});
    GuardedArray<float> out(shape.n * out_row - kPadding);
    std::fill(out.begin(), out.end(), kUntouched);
    for (size_t at = 0; at < shape.n; at += chunk) {
      const size_t end = std::min(at + chunk, shape.n);
      write(row, at, end);
      attend(row, at, end, rows_per_call, out);
    }
    return compact(out);
  }
  std::vector<float> feed(const AttentionRow& row) { return feed(row, shape.n, shape.n); }

  std::vector<float> compact(GuardedArray<float>& out) const {
    std::vector<float> all;
    for (size_t i = 0; i < out.size(); ++i) {
      if (i % out_row < out_row - kPadding) {
        all.push_back(out[i]);
      } else if (out[i] != kUntouched) {
        all.clear();  // a write into the padding: no test can match this
        break;
      }
    }
    return all;
  }

  Shape shape;
  size_t q_row, k_row, v_row, out_row;  ///< floats from row to row
  size_t capacity;
  GuardedArray<float> q, k, v;
  GuardedArray<uint16_t> keys, values;
  GuardedArray<std::byte> scratch;
};

struct Expected {
  double value;
  double bound;  ///< on |computed - value|
};

/// The formula of AttentionArgs in double over K and V rounded to f16, for one position and head;
/// `value_size` results. The bound follows docs/attention.md's order of operations.
inline std::vector<Expected> reference(const Problem& p, size_t position, size_t head) {
  const Shape& s = p.shape;
  const size_t kv_head = head / (s.n_heads / s.n_kv_heads);
  const double u = std::ldexp(1.0, -24);
  const size_t begin = s.window == 0 || position < s.window ? 0 : position - s.window + 1;
  const auto rounded = [](float x) { return static_cast<double>(f16_to_f32(f32_to_f16(x))); };
  std::vector<double> scores, score_bounds;
  for (size_t t = begin; t <= position; ++t) {
    double sum = 0, magnitude = 0;
    for (size_t d = 0; d < s.key_size; ++d) {
      const double term =
          static_cast<double>(p.q.data()[position * p.q_row + head * s.key_size + d]) *
          rounded(p.k.data()[t * p.k_row + kv_head * s.key_size + d]);
      sum += term;
      magnitude += std::abs(term);
    }
    const double scale = p.scale();
    double score = scale * sum;
    // key_size fused additions and the scaling.
    double bound = static_cast<double>(s.key_size + 1) * u * scale * magnitude;
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
    // the weight and for each rescaling, one multiplication a rescaling, one addition a position.
    const double relative = score_bounds[i] + 2 * u * (below + score_bounds[i]) +
                            4 * u * (1 + steps) + u * steps +
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
      const double v = rounded(p.v.data()[(begin + i) * p.v_row + kv_head * s.value_size + d]);
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

/// Rows of this build that this processor runs, scalar first.
inline std::vector<AttentionRow> runnable_rows() {
  std::vector<AttentionRow> rows;
  for (const AttentionRow& row : attention_rows()) {
    if (testing_support::runs_here(row.isa)) rows.push_back(row);
  }
  return rows;
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return !a.empty() && a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace tandem::kernels::attention_test
