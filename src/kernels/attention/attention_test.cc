#include "kernels/attention/attention.h"

#include <gtest/gtest.h>

#include "kernels/attention/attention_reference.h"
#include "kernels/attention/attention_test_data.h"

namespace tandem::kernels::attention_test {
namespace {

TEST(AttentionTable, ListsTheScalarRowFirstAndSelectsTheBestNotAbove) {
  const auto rows = attention_rows();
  ASSERT_FALSE(rows.empty());
  EXPECT_STREQ(rows[0].name, "attention_f16_scalar");
  for (const AttentionRow& row : rows) {
    EXPECT_EQ(&select_attention(row.isa, row.storage), &row);
    EXPECT_NE(std::string(row.name).find(to_string(row.storage)), std::string::npos);
  }
  EXPECT_EQ(select_attention(Isa::kAvx512Vnni).isa, rows.back().isa);
  EXPECT_EQ(select_attention(Isa::kAvx512Vnni).storage, KvStorage::kF16);
}

class EachRow : public testing::TestWithParam<AttentionRow> {
 protected:
  const AttentionRow& row() const { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Attention, EachRow, testing::ValuesIn(runnable_rows()), row_name);

TEST_P(EachRow, WritesRoundedElementsToTheirPlacesAndNoOthers) {
  if (row().storage != KvStorage::kF16) GTEST_SKIP() << "attention_i8_test";
  Problem p({.n_heads = 3, .n_kv_heads = 3, .key_size = 40, .value_size = 24, .n = 37});
  // Halfway cases, subnormals, the largest f16 and what overflows, beside ordinary numbers.
  const float special[] = {1.0f + 0x1p-11f, 1.0f + 3 * 0x1p-11f,
                           0x1p-25f,        0x1.8p-24f,
                           -0.0f,           65504.0f,
                           65519.9f,        65520.0f,
                           -1e30f,          0x1p-14f};
  std::copy(std::begin(special), std::end(special), p.k.begin() + 20 * p.k_row);
  std::copy(std::begin(special), std::end(special), p.v.begin() + 20 * p.v_row);
  p.write(row(), 5, 21);
  for (size_t head = 0; head < 3; ++head) {
    for (size_t t = 0; t < p.capacity; ++t) {
      const bool written = t >= 5 && t < 21;
      for (size_t d = 0; d < 40; ++d) {
        const uint16_t want = written ? f32_to_f16(p.k[t * p.k_row + head * 40 + d]) : 0x7fff;
        ASSERT_EQ(p.keys[p.key_index(head, t, d)], want) << head << " " << t << " " << d;
      }
      for (size_t d = 0; d < 24; ++d) {
        const uint16_t want = written ? f32_to_f16(p.v[t * p.v_row + head * 24 + d]) : 0xfe01;
        ASSERT_EQ(p.values[p.value_index(head, t, d)], want) << head << " " << t << " " << d;
      }
    }
  }
}

void expect_near_reference(const Problem& p, KvStorage storage, const std::vector<float>& got,
                           size_t position) {
  const Shape& s = p.shape;
  ASSERT_EQ(got.size(), s.n * s.n_heads * s.value_size);
  for (size_t head = 0; head < s.n_heads; ++head) {
    const std::vector<Expected> want = reference(p, storage, position, head);
    const float* row = got.data() + (position * s.n_heads + head) * s.value_size;
    for (size_t d = 0; d < s.value_size; ++d) {
      ASSERT_LE(std::abs(row[d] - want[d].value), want[d].bound)
          << "position " << position << " head " << head << " d " << d << ": got " << row[d]
          << ", want " << want[d].value;
    }
  }
}

/// Field report A10: sliding windows keep or mask one key too many or too few.
TEST_P(EachRow, FieldReportA10WindowOfSixSeesItselfAndTheFiveBefore) {
  Problem p({.n = 10, .window = 6});
  // Weights that tell which positions were seen: q = 0 makes all of them equal.
  std::fill(p.q.begin(), p.q.end(), 0.0f);
  for (size_t t = 0; t < 10; ++t) {
    for (size_t i = 0; i < p.v_row - kPadding; ++i) p.v[t * p.v_row + i] = 1 << t;
  }
  const std::vector<float> one_by_one = p.feed(row(), 1, 1);
  const std::vector<float> batched = p.feed(row());
  EXPECT_TRUE(same_bits(one_by_one, batched));
  for (size_t t = 0; t < 10; ++t) {
    const size_t n_seen = std::min<size_t>(t + 1, 6);
    const float sum = static_cast<float>((1 << (t + 1)) - (1 << (t + 1 - n_seen)));
    EXPECT_FLOAT_EQ(batched[t * 4 * 16], sum / static_cast<float>(n_seen)) << "position " << t;
  }
}

TEST_P(EachRow, SharesKeyHeadsAmongNeighbouringQueryHeads) {
  Problem p({.n_heads = 14, .n_kv_heads = 2, .n = 3});
  for (size_t t = 0; t < 3; ++t) {
    for (size_t i = 0; i < 32; ++i) p.v[t * p.v_row + i] = i < 16 ? 1.0f : 2.0f;
  }
  const std::vector<float> out = p.feed(row());
  for (size_t head = 0; head < 14; ++head) EXPECT_FLOAT_EQ(out[head * 16], head < 7 ? 1.0f : 2.0f);
}

TEST_P(EachRow, LargeScoresNeitherOverflowNorLoseTheLargest) {
  for (float sign : {1.0f, -1.0f}) {
    Problem p({.n = 200});
    // Scores near sign * 1e9 with one position above the others by more than exp can bridge.
    for (float& x : p.q) x = 6e4f;
    for (float& x : p.k) x = sign * 6e3f;
    for (size_t i = 0; i < 32; ++i) p.k[70 * p.k_row + i] += 1.0f * 32;
    const std::vector<float> out = p.feed(row());
    for (size_t i = 0; i < 16; ++i) {
      // An int8 value is code times scale, which the kernel may round in another order.
      EXPECT_FLOAT_EQ(out[199 * 4 * 16 + i], value_element(p, row().storage, 0, 70, i));
    }
  }
}

TEST_P(EachRow, EqualScoresOfAnySizeGiveTheMean) {
  for (float key : {0.0f, 60000.0f, -60000.0f}) {
    Problem p({.n = 130});
    for (float& x : p.q) x = 3e30f;
    for (float& x : p.k) x = key;
    for (float& x : p.v) x = 0.5f;
    for (float x : p.feed(row())) ASSERT_FLOAT_EQ(x, 0.5f);
  }
}

TEST_P(EachRow, NanInARowsOwnKeysShowsInItsOutputAndInNoOther) {
  Problem p({.n = 90});
  p.k[80 * p.k_row] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> out = p.feed(row());
  for (size_t t = 0; t < 90; ++t) EXPECT_EQ(std::isnan(out[t * 4 * 16]), t >= 80) << t;
}

struct Accuracy : testing::TestWithParam<std::tuple<AttentionRow, Shape>> {};

TEST_P(Accuracy, IsWithinTheBoundOfTheDoubleReference) {
  const auto& [row, shape] = GetParam();
  Problem p(shape);
  const std::vector<float> out = p.feed(row);
  for (size_t t = 0; t < shape.n; t = t < 3 ? t + 1 : t + 1 + shape.n / 11) {
    expect_near_reference(p, row.storage, out, t);
  }
  expect_near_reference(p, row.storage, out, shape.n - 1);
}

std::vector<Shape> accuracy_shapes() {
  std::vector<Shape> shapes;
  for (size_t size : {16, 40, 64, 72, 80, 96, 128, 256}) {
    shapes.push_back({.key_size = size, .value_size = size, .n = 150});
  }
  shapes.push_back({.key_size = 24, .value_size = 56, .n = 150});
  shapes.push_back({.key_size = 192, .value_size = 128, .n = 70});
  shapes.push_back({.key_size = 1, .value_size = 1, .n = 70});
  for (size_t group : {1, 2, 7, 8, 71}) {
    shapes.push_back({.n_heads = group * 2, .n_kv_heads = 2, .n = 131});
  }
  for (size_t window : {1, 2, 15, 16, 17, 63, 64, 65, 100, 1000}) {
    shapes.push_back({.n_heads = 7, .n_kv_heads = 1, .n = 300, .window = window});
  }
  for (float softcap : {5.0f, 50.0f}) {
    shapes.push_back({.n = 150, .window = 70, .softcap = softcap});
    shapes.push_back({.n = 150, .softcap = softcap, .q_spread = 300.0f});
  }
  shapes.push_back({.n = 150, .q_spread = 30.0f});
  shapes.push_back({.n_heads = 1, .n_kv_heads = 1, .n = 2500});
  return shapes;
}
INSTANTIATE_TEST_SUITE_P(Shapes, Accuracy,
                         testing::Combine(testing::ValuesIn(runnable_rows()),
                                          testing::ValuesIn(accuracy_shapes())),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::to_string(info.index);
                         });

}  // namespace
}  // namespace tandem::kernels::attention_test
