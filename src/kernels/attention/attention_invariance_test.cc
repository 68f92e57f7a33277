// A row's bits depend on nothing but its own position, query and what it sees of the cache.

#include <gtest/gtest.h>

#include "kernels/attention/attention.h"
#include "kernels/attention/attention_test_data.h"

namespace tandem::kernels::attention_test {
namespace {

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (size_t group : {1, 2, 7, 8}) {
    for (size_t window : {0, 1, 6, 70}) {
      all.push_back({.n_heads = group,
                     .n_kv_heads = 1,
                     .key_size = 16,
                     .value_size = 32,
                     .n = 150,
                     .window = window});
    }
  }
  for (size_t size : {40, 64, 72, 80, 96, 128, 256}) {
    all.push_back({.key_size = size, .value_size = size, .n = 130, .window = 100});
  }
  all.push_back({.n_heads = 140, .n_kv_heads = 2, .n = 70});
  all.push_back({.n = 150, .softcap = 30.0f, .q_spread = 40.0f});
  all.push_back({.n_heads = 1, .n_kv_heads = 1, .n = 1500, .window = 1100});
  return all;
}

class Invariance : public testing::TestWithParam<Shape> {
 protected:
  Invariance() : p(GetParam()) {}
  /// Scalar code is slow: it takes part where the problem is small.
  std::vector<AttentionRow> rows() const {
    std::vector<AttentionRow> all = runnable_rows();
    if (p.shape.n > 1000)
      std::erase_if(all, [](const auto& row) { return row.isa == Isa::kScalar; });
    return all;
  }
  Problem p;
};
INSTANTIATE_TEST_SUITE_P(Attention, Invariance, testing::ValuesIn(shapes()),
                         [](const auto& info) { return "shape_" + std::to_string(info.index); });

TEST_P(Invariance, EveryRowOfTheTableComputesTheSameBits) {
  for (KvStorage storage : {KvStorage::kF16, KvStorage::kI8}) {
    const std::vector<float> want = p.feed(select_attention(Isa::kScalar, storage));
    for (const AttentionRow& row : runnable_rows()) {
      if (row.storage != storage || row.isa == Isa::kScalar) continue;
      EXPECT_TRUE(same_bits(p.feed(row), want)) << row.name;
    }
  }
}

TEST_P(Invariance, ChunkSplitsChangeNoBit) {
  for (const AttentionRow& row : rows()) {
    const std::vector<float> want = p.feed(row);
    for (size_t chunk : {1, 3, 7, 64}) {
      EXPECT_TRUE(same_bits(p.feed(row, chunk, chunk), want)) << row.name << " chunk " << chunk;
    }
  }
}

TEST_P(Invariance, RowSplitsChangeNoBit) {
  for (const AttentionRow& row : rows()) {
    const std::vector<float> want = p.feed(row);
    for (size_t rows_per_call : {1, 2, 5, 33}) {
      EXPECT_TRUE(same_bits(p.feed(row, p.shape.n, rows_per_call), want))
          << row.name << " rows " << rows_per_call;
    }
  }
}

/// Replaces what the row at position `at` does not see.
void poison_unseen(Problem& p, size_t at, uint16_t pattern) {
  const Shape& s = p.shape;
  const size_t begin = s.window == 0 || at < s.window ? 0 : at - s.window + 1;
  for (size_t t = 0; t < p.capacity; ++t) {
    if (t < begin || t > at) p.poison(t, pattern);
  }
}

TEST_P(Invariance, UnseenPositionsMayHoldAnything) {
  const Shape& s = p.shape;
  for (const AttentionRow& row : rows()) {
    GuardedArray<float> want(s.n * p.out_row - kPadding), got(s.n * p.out_row - kPadding);
    p.write(row, 0, s.n);
    p.attend(row, 0, s.n, s.n, want);
    for (uint16_t pattern : {0x7e00, 0xffff, 0x7c00, 0xfc00, 0x7bff, 0x0001, 0x8000}) {
      for (size_t at : {s.n / 2, s.n - 1}) {
        p.write(row, 0, s.n);
        poison_unseen(p, at, pattern);
        p.attend(row, at, at + 1, 1, got);
        const size_t bytes = s.n_heads * s.value_size * sizeof(float);
        EXPECT_EQ(std::memcmp(got.data() + at * p.out_row, want.data() + at * p.out_row, bytes), 0)
            << row.name << " pattern " << pattern << " position " << at;
      }
    }
  }
}

/// Rows computed together, where the cache of the later ones holds NaN: the earlier ones do not see
/// it, although they share tiles and blocks.
TEST_P(Invariance, NeighboursInOneCallDoNotLeakIntoEachOther) {
  const Shape& s = p.shape;
  const size_t poisoned = s.n / 2;
  for (const AttentionRow& row : rows()) {
    GuardedArray<float> want(s.n * p.out_row - kPadding), got(s.n * p.out_row - kPadding);
    p.write(row, 0, s.n);
    p.attend(row, 0, s.n, s.n, want);
    p.poison(poisoned, 0x7e00);
    p.attend(row, 0, s.n, s.n, got);
    for (size_t t = 0; t < s.n; ++t) {
      const bool sees = t >= poisoned && (s.window == 0 || t < poisoned + s.window);
      const size_t bytes = s.n_heads * s.value_size * sizeof(float);
      const bool same =
          std::memcmp(got.data() + t * p.out_row, want.data() + t * p.out_row, bytes) == 0;
      EXPECT_EQ(same, !sees) << row.name << " position " << t;
    }
  }
}

}  // namespace
}  // namespace tandem::kernels::attention_test
