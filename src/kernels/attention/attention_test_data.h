#pragma once

// Problems for the attention tests: padded strides, a hostile cache, a forbidden page behind every
// array.

#include <gtest/gtest.h>

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

namespace tandem::kernels {

inline void PrintTo(const AttentionRow& row, std::ostream* out) { *out << row.name; }

}  // namespace tandem::kernels

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
        key_codes(keys.size()),
        value_codes(values.size()),
        key_scales(s.n_kv_heads * capacity),
        value_scales(s.n_kv_heads * capacity),
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
    std::fill(key_codes.begin(), key_codes.end(), int8_t{-128});
    std::fill(value_codes.begin(), value_codes.end(), int8_t{-128});
    std::fill(key_scales.begin(), key_scales.end(), std::numeric_limits<float>::quiet_NaN());
    std::fill(value_scales.begin(), value_scales.end(), std::numeric_limits<float>::infinity());
  }

  KvView view() {
    return {.keys = keys.data(),
            .values = values.data(),
            .capacity = capacity,
            .n_kv_heads = shape.n_kv_heads,
            .key_size = shape.key_size,
            .value_size = shape.value_size,
            .key_codes = key_codes.data(),
            .value_codes = value_codes.data(),
            .key_scales = key_scales.data(),
            .value_scales = value_scales.data()};
  }
  size_t key_index(size_t head, size_t position, size_t d) const {
    const size_t tile = head * capacity + position / kKeyTile * kKeyTile;
    return tile * shape.key_size + d * kKeyTile + position % kKeyTile;
  }
  size_t value_index(size_t head, size_t position, size_t d) const {
    return (head * capacity + position) * shape.value_size + d;
  }
  /// Replaces a position's elements in every storage by a hostile bit pattern.
  void poison(size_t position, uint16_t pattern) {
    for (size_t head = 0; head < shape.n_kv_heads; ++head) {
      for (size_t d = 0; d < shape.key_size; ++d) {
        keys[key_index(head, position, d)] = pattern;
        key_codes[key_index(head, position, d)] = static_cast<int8_t>(pattern);
      }
      for (size_t d = 0; d < shape.value_size; ++d) {
        values[value_index(head, position, d)] = pattern;
        value_codes[value_index(head, position, d)] = static_cast<int8_t>(pattern);
      }
      key_scales[head * capacity + position] = f16_to_f32(pattern);
      value_scales[head * capacity + position] = f16_to_f32(pattern);
    }
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
  GuardedArray<int8_t> key_codes, value_codes;
  GuardedArray<float> key_scales, value_scales;
  GuardedArray<std::byte> scratch;
};

/// Rows of this build that this processor runs, scalar first.
inline std::vector<AttentionRow> runnable_rows() {
  std::vector<AttentionRow> rows;
  for (const AttentionRow& row : attention_rows()) {
    if (testing_support::runs_here(row.isa)) rows.push_back(row);
  }
  return rows;
}

/// GoogleTest's way to name a row in a failure.
inline std::string row_name(const testing::TestParamInfo<AttentionRow>& info) {
  return info.param.name;
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return !a.empty() && a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace tandem::kernels::attention_test
