// The int8 storage: its codes, and what its precision does to attention.

#include <gtest/gtest.h>

#include "kernels/attention/attention.h"
#include "kernels/attention/attention_reference.h"
#include "kernels/attention/attention_test_data.h"

namespace tandem::kernels::attention_test {
namespace {

class I8Row : public testing::TestWithParam<AttentionRow> {
 protected:
  const AttentionRow& row() const { return GetParam(); }
};
std::vector<AttentionRow> i8_rows() {
  std::vector<AttentionRow> rows = runnable_rows();
  std::erase_if(rows, [](const AttentionRow& row) { return row.storage != KvStorage::kI8; });
  return rows;
}
INSTANTIATE_TEST_SUITE_P(Attention, I8Row, testing::ValuesIn(i8_rows()), row_name);

/// Half a code, and the roundings of the rotation, the scale and the product before rounding.
void expect_codes(const std::vector<double>& want, double scale, double rounding,
                  const std::vector<double>& got) {
  double largest = 0;
  for (double x : want) largest = std::max(largest, std::abs(x));
  EXPECT_NEAR(scale, largest / 127, 2e-7 * scale + rounding);
  for (size_t d = 0; d < want.size(); ++d) {
    EXPECT_LE(std::abs(got[d] - want[d]), scale * (0.5 + 1e-4) + rounding) << d;
  }
}

TEST_P(I8Row, CodesAreTheRoundedKeysAndValues) {
  for (size_t key_size : {1, 40, 64, 96, 512}) {
    Problem p({.n_heads = 2, .n_kv_heads = 2, .key_size = key_size, .value_size = 24, .n = 21});
    p.write(row(), 0, 21);
    const size_t block = rotation_block(key_size);
    const double size = static_cast<double>(block);
    for (size_t t = 0; t < 21; ++t) {
      for (size_t head = 0; head < 2; ++head) {
        const float* k = p.k.data() + t * p.k_row + head * key_size;
        const float* v = p.v.data() + t * p.v_row + head * 24;
        std::vector<double> keys, values;
        for (size_t d = 0; d < key_size; ++d) {
          keys.push_back(key_element(p, KvStorage::kI8, head, t, d) * size);
        }
        for (size_t d = 0; d < 24; ++d) {
          values.push_back(value_element(p, KvStorage::kI8, head, t, d));
        }
        const size_t at = head * p.capacity + t;
        expect_codes(rotated({k, k + key_size}, block), p.key_scales[at] * size, 1e-6 * size, keys);
        expect_codes({v, v + 24}, p.value_scales[at], 0, values);
      }
    }
  }
}

TEST_P(I8Row, WritesNoOtherPosition) {
  Problem p({.key_size = 24, .value_size = 8, .n = 40});
  p.write(row(), 5, 21);
  for (size_t head = 0; head < 2; ++head) {
    for (size_t t = 0; t < p.capacity; ++t) {
      const bool written = t >= 5 && t < 21;
      EXPECT_EQ(std::isfinite(p.key_scales[head * p.capacity + t]), written);
      EXPECT_EQ(std::isfinite(p.value_scales[head * p.capacity + t]), written);
      for (size_t d = 0; d < 24; ++d) {
        EXPECT_EQ(p.key_codes[p.key_index(head, t, d)] != -128, written);
      }
      for (size_t d = 0; d < 8; ++d) {
        EXPECT_EQ(p.value_codes[p.value_index(head, t, d)] != -128, written);
      }
    }
  }
}

TEST_P(I8Row, ZeroTinyAndInfiniteElementsHaveDefinedCodes) {
  Problem p({.n_heads = 1, .n_kv_heads = 1, .n = 4});
  for (size_t d = 0; d < 16; ++d) {
    p.k[d] = p.v[d] = 0.0f;
    p.k[p.k_row + d] = p.v[p.v_row + d] = 1e-38f;
  }
  p.k[2 * p.k_row] = p.v[2 * p.v_row] = std::numeric_limits<float>::infinity();
  p.k[3 * p.k_row + 5] = p.v[3 * p.v_row + 5] = std::numeric_limits<float>::quiet_NaN();
  p.write(row(), 0, 4);
  for (size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(std::isnan(p.key_scales[t]), t >= 2) << t;
    EXPECT_EQ(std::isnan(p.value_scales[t]), t >= 2) << t;
    for (size_t d = 0; d < 16; ++d) {
      EXPECT_EQ(p.key_codes[p.key_index(0, t, d)], 0);
      EXPECT_EQ(p.value_codes[p.value_index(0, t, d)], 0);
    }
  }
  EXPECT_EQ(p.key_scales[0], 0.0f);
  EXPECT_EQ(p.key_scales[1], 0.0f);
}

struct Distance {
  double kl;      ///< mean over positions and heads, of the i8 weights from exact ones
  double cosine;  ///< the worst 1 - cosine of an output
};

/// 64 positions; the values are one-hot, so that an output is the row of weights itself.
Distance weights_distance(const AttentionRow& row, float channel_factor) {
  Problem p({.n_heads = 8, .n_kv_heads = 2, .key_size = 64, .value_size = 64, .n = 64});
  for (size_t t = 0; t < 64; ++t) {
    for (size_t head = 0; head < 2; ++head) p.k[t * p.k_row + head * 64 + 3] *= channel_factor;
    for (size_t i = 0; i < 128; ++i) p.v[t * p.v_row + i] = i % 64 == t ? 1.0f : 0.0f;
  }
  const std::vector<float> got = p.feed(row);
  Distance distance{0, 0};
  for (size_t t = 0; t < 64; ++t) {
    for (size_t head = 0; head < 8; ++head) {
      const std::vector<Expected> want = reference(p, KvStorage::kF16, t, head);
      const float* weights = got.data() + (t * 8 + head) * 64;
      double product = 0, want_norm = 0, got_norm = 0;
      for (size_t i = 0; i <= t; ++i) {
        const double w = want[i].value;
        if (w > 0) distance.kl += w * std::log(w / std::max<double>(weights[i], 1e-30)) / (64 * 8);
        product += w * weights[i];
        want_norm += w * w;
        got_norm += static_cast<double>(weights[i]) * weights[i];
      }
      distance.cosine = std::max(distance.cosine, 1 - product / std::sqrt(want_norm * got_norm));
    }
  }
  return distance;
}

/// Field report G04: an int8 cache turns output into garbage where a key channel is 50 times larger
/// than the others. Unrotated codes with one scale a key give KL 1e-2 here (docs/attention.md).
TEST_P(I8Row, FieldReportG04AKeyChannelFiftyTimesLargerStaysPrecise) {
  const Distance plain = weights_distance(row(), 1.0f);
  const Distance outlier = weights_distance(row(), 50.0f);
  RecordProperty("kl_plain", std::to_string(plain.kl));
  RecordProperty("kl_outlier", std::to_string(outlier.kl));
  printf("%s: KL %.2e, worst 1 - cosine %.2e; with a channel x 50: %.2e, %.2e\n", row().name,
         plain.kl, plain.cosine, outlier.kl, outlier.cosine);
  EXPECT_LT(plain.kl, 5e-5);
  EXPECT_LT(outlier.kl, 1e-3);
  EXPECT_LT(plain.cosine, 1e-3);
  EXPECT_LT(outlier.cosine, 2e-2);
}

}  // namespace
}  // namespace tandem::kernels::attention_test
