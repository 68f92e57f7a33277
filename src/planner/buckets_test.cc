#include "planner/buckets.h"

#include <gtest/gtest.h>

#include <limits>

namespace tandem {
namespace {

/// A launch of 10 and 1 for each token.
std::vector<Bucket> buckets_of(std::initializer_list<uint32_t> sizes) {
  std::vector<Bucket> out;
  for (uint32_t n : sizes) out.push_back({n, 10.0 + n});
  return out;
}

/// Every way to cut, by recursion.
double slow_cost(const std::vector<Bucket>& buckets, uint32_t n) {
  if (n == 0) return 0;
  double best = std::numeric_limits<double>::infinity();
  for (const Bucket& b : buckets) {
    best = std::min(best, b.cost + slow_cost(buckets, n - std::min(n, b.n_tokens)));
  }
  return best;
}

TEST(Chunking, CostsWhatTheBestCutCosts) {
  const auto buckets = buckets_of({8, 16, 32});
  const Chunking chunking(buckets, 0, 0);
  for (uint32_t n = 1; n <= 64; ++n) EXPECT_DOUBLE_EQ(chunking.cost(n), slow_cost(buckets, n)) << n;
}

TEST(Chunking, CutsCoverThePromptAtThatCost) {
  const Chunking chunking(buckets_of({8, 16, 32}), 0, 0);
  for (uint32_t n : {1u, 7u, 8u, 9u, 31u, 32u, 33u, 63u, 64u, 65u, 191u, 192u, 193u, 1000u}) {
    double cost = 0;
    uint32_t left = n;
    while (left > 0) {
      const Bucket& b = chunking.buckets()[chunking.next_bucket(left)];
      cost += b.cost;
      left -= std::min(left, b.n_tokens);
    }
    EXPECT_DOUBLE_EQ(cost, chunking.cost(n)) << n;
  }
}

TEST(Chunking, WeighsPaddingAgainstLaunches) {
  // 33 tokens: 32 + 8 costs 42 + 18; two of 32 cost 84; one of 64 costs 74.
  const Chunking chunking(buckets_of({8, 32, 64}), 0, 0);
  EXPECT_DOUBLE_EQ(chunking.cost(33), 60);
  // 60 tokens: 64 with padding (74) beats 32 + 32 (84).
  EXPECT_DOUBLE_EQ(chunking.cost(60), 74);
}

TEST(Chunking, GivesTheEndOfAPromptToTheProcessorWhenThatIsCheaper) {
  const Chunking chunking(buckets_of({64}), 0, 3);
  EXPECT_EQ(chunking.next_bucket(10), 1u);  // 30 against 74
  EXPECT_EQ(chunking.next_bucket(30), 0u);  // 90 against 74
  EXPECT_EQ(chunking.next_bucket(1000), 0u);
  EXPECT_DOUBLE_EQ(chunking.cost(74), 74 + 30);
}

TEST(ChooseBuckets, TakesTheSizesThatThePromptsNeed) {
  const auto candidates = buckets_of({32, 64, 128, 256, 512});
  const uint32_t long_prompts[] = {512, 1024, 2048};
  const auto for_long = choose_buckets(candidates, 4, long_prompts);
  ASSERT_EQ(for_long.size(), 1u);
  EXPECT_EQ(for_long[0].n_tokens, 512u);
  const uint32_t mixed[] = {20, 60, 500, 530, 1100};
  const auto for_mixed = choose_buckets(candidates, 3, mixed);
  EXPECT_EQ(for_mixed.size(), 3u);
  EXPECT_EQ(for_mixed.front().n_tokens, 32u);
  EXPECT_EQ(for_mixed.back().n_tokens, 512u);
}

}  // namespace
}  // namespace tandem
