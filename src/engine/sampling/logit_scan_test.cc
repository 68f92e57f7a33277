#include "engine/sampling/logit_scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "engine/sampling/random.h"

namespace tandem {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(LogitScan, FindsTheLowestIdOfTheLargestLogitAtEverySize) {
  Random random(3);
  for (size_t n : {1, 2, 15, 16, 17, 31, 1023, 1024, 1025, 5000}) {
    std::vector<float> logits(n);
    for (float& x : logits) x = static_cast<float>(random.next() % 50) - 60;  // many ties
    size_t best = 0;
    for (size_t i = 1; i < n; ++i) best = logits[i] > logits[best] ? i : best;
    const LogitScan scan = scan_logits(logits);
    EXPECT_EQ(scan.best, static_cast<TokenId>(best)) << n;
    EXPECT_EQ(scan.max, logits[best]);
    EXPECT_TRUE(scan.all_finite);
  }
}

TEST(LogitScan, SeesEveryKindOfBadLogitAnywhere) {
  for (const float bad : {NAN, -NAN, kInfinity, -kInfinity}) {
    for (const size_t place : {0, 7, 16, 1023, 1024, 1029, 1040}) {
      std::vector<float> logits(1041, 1.0f);
      logits[place] = bad;
      EXPECT_FALSE(scan_logits(logits).all_finite);
      EXPECT_EQ(first_non_finite(logits), place);
    }
  }
  const std::vector<float> largest{std::numeric_limits<float>::max(), -3};
  EXPECT_TRUE(scan_logits(largest).all_finite);
  EXPECT_EQ(first_non_finite(largest), 2u);
}

TEST(LogitScan, MaskedLogitsAreNeverTheBest) {
  std::vector<float> logits(40, -kInfinity);
  EXPECT_EQ(scan_logits(logits).best, -1);
  logits[33] = -5;
  EXPECT_EQ(scan_logits(logits).best, 33);
}

}  // namespace
}  // namespace tandem
