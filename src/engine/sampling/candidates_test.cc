#include "engine/sampling/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/sampling/random.h"

namespace tandem {
namespace {

Candidates collect(const std::vector<float>& logits, int32_t top_k) {
  Candidates out;
  out.reserve(candidate_capacity(logits.size(), top_k));
  const Candidate* before = out.data();
  collect_candidates(logits, top_k, out);
  EXPECT_EQ(out.data(), before) << "grew beyond candidate_capacity";
  return out;
}

std::vector<TokenId> ids(const Candidates& candidates) {
  std::vector<TokenId> out;
  for (const Candidate& c : candidates) out.push_back(c.id);
  return out;
}

// The definition: sort everything, ties by id.
std::vector<TokenId> best_by_full_sort(const std::vector<float>& logits, size_t k) {
  std::vector<TokenId> all(logits.size());
  std::iota(all.begin(), all.end(), 0);
  std::stable_sort(all.begin(), all.end(),
                   [&](TokenId a, TokenId b) { return logits[a] > logits[b]; });
  all.resize(std::min(k, all.size()));
  return all;
}

TEST(Candidates, TopKEqualsAFullSort) {
  Random random(11);
  for (const size_t n : {1, 5, 1000, 1025, 30000}) {
    std::vector<float> logits(n);
    for (float& x : logits) x = static_cast<float>(random.next() % 997);  // many ties
    for (const int32_t k : {1, 2, 40, 700, 4000, 50000}) {
      EXPECT_EQ(ids(collect(logits, k)), best_by_full_sort(logits, k)) << n << " " << k;
    }
  }
}

TEST(Candidates, AscendingLogitsAreTheWorstCaseAndStillRight) {
  std::vector<float> logits(20000);
  std::iota(logits.begin(), logits.end(), 0.0f);
  EXPECT_EQ(ids(collect(logits, 3)), (std::vector<TokenId>{19999, 19998, 19997}));
}

TEST(Candidates, MaskedTokensAreNoCandidates) {
  const std::vector<float> logits{-INFINITY, 1, -INFINITY, 2};
  EXPECT_EQ(ids(collect(logits, 0)), (std::vector<TokenId>{1, 3}));
  EXPECT_EQ(ids(collect(logits, 3)), (std::vector<TokenId>{3, 1}));
  EXPECT_TRUE(collect({-INFINITY, -INFINITY}, 1).empty());
}

// Equal logits: the shortest prefix that reaches 62.5 % of 16 equal shares is 10 tokens, by id.
TEST(Candidates, TopPBreaksTiesByIdAndSortsOnlyWhatItNeeds) {
  Candidates candidates = collect(std::vector<float>(16, 3.0f), 0);
  set_weights(candidates, 1);
  keep_top_p(candidates, 0.625f);
  EXPECT_EQ(ids(candidates), (std::vector<TokenId>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Candidates, TopPOverManyChunksEqualsTheDefinition) {
  Random random(5);
  std::vector<float> logits(20000);
  for (float& x : logits) x = static_cast<float>(random.uniform());
  Candidates candidates = collect(logits, 0);
  set_weights(candidates, 1);
  keep_top_p(candidates, 0.5f);
  const auto order = best_by_full_sort(logits, logits.size());
  double total = 0, sum = 0;
  for (const float x : logits) total += std::exp(double{x});
  size_t n = 0;
  while (sum < 0.5 * total) sum += std::exp(double{logits[order[n++]]});
  EXPECT_EQ(ids(candidates), std::vector<TokenId>(order.begin(), order.begin() + n));
}

TEST(Candidates, FiltersNeverEmptyTheList) {
  for (const auto keep : {keep_top_p, keep_min_p, keep_typical, drop_top_choices}) {
    for (const float value : {0.0f, 0.5f, 1.0f}) {
      Candidates candidates = collect({-3e38f, 3e38f, 0}, 0);
      set_weights(candidates, 1);
      keep(candidates, value);
      EXPECT_FALSE(candidates.empty());
    }
  }
}

// P = 0.5, 0.25, 0.25: the cumulative borders are exact.
TEST(Candidates, PickWalksTheCumulatedProbabilities) {
  Candidates candidates{{4, 0, 0.5}, {2, 0, 0.25}, {9, 0, 0.25}};
  EXPECT_EQ(pick(candidates, 0).id, 4);
  EXPECT_EQ(pick(candidates, 0.4999).id, 4);
  EXPECT_EQ(pick(candidates, 0.5).id, 2);
  EXPECT_EQ(pick(candidates, 0.75).id, 9);
  EXPECT_EQ(pick(candidates, 1 - 0x1.0p-53).id, 9);
}

TEST(Candidates, PickNeverTakesAnImpossibleToken) {
  const Candidates candidates{{1, 0, 0}, {2, 0, 1}, {3, 0, 0}};
  EXPECT_EQ(pick(candidates, 0).id, 2);
  EXPECT_EQ(pick(candidates, 1 - 0x1.0p-53).id, 2);
}

}  // namespace
}  // namespace tandem
