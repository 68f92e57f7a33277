#include "engine/sampling/penalties.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/sampling/dry.h"

namespace tandem {
namespace {

std::vector<float> penalised(const SamplingOptions& options, const std::vector<TokenId>& history,
                             std::vector<float> logits) {
  Penalties penalties(options, static_cast<int32_t>(logits.size()), 100);
  for (const TokenId token : history) penalties.accept(token);
  penalties.apply(logits);
  return logits;
}

TEST(Penalties, D04_RepeatPenaltyLowersNegativeLogitsToo) {
  SamplingOptions options{.repeat_penalty = 2};
  EXPECT_EQ(penalised(options, {0, 1}, {2.0f, -1.0f, 0.5f}),
            (std::vector<float>{1.0f, -2.0f, 0.5f}));
}

TEST(Penalties, D04_WindowTakesTheLastTokens) {
  SamplingOptions options{.repeat_penalty = 2, .penalty_window = 1};
  const std::vector<float> ones(9, 1.0f);
  std::vector<float> only_8 = ones;
  only_8[8] = 0.5f;
  EXPECT_EQ(penalised(options, {5, 5, 5, 8}, ones), only_8);
}

TEST(Penalties, D04_WindowZeroOrPenaltyOneIsOff) {
  const std::vector<float> logits{2.0f, -1.0f, 0.5f};
  EXPECT_EQ(
      penalised({.repeat_penalty = 2, .frequency_penalty = 1, .penalty_window = 0}, {0, 1}, logits),
      logits);
  EXPECT_EQ(penalised({.repeat_penalty = 1}, {0, 1}, logits), logits);
}

TEST(Penalties, FrequencyCountsAndPresenceDoesNot) {
  SamplingOptions options{.frequency_penalty = 0.5f, .presence_penalty = 0.25f};
  EXPECT_EQ(penalised(options, {0, 0, 0, 1}, {4, 4, 4}), (std::vector<float>{2.25f, 3.25f, 4}));
}

TEST(Penalties, TokensLeaveTheWindowAndMayComeBack) {
  SamplingOptions options{.presence_penalty = 1, .penalty_window = 2};
  Penalties penalties(options, 3, 100);
  for (const TokenId token : {0, 1, 2}) penalties.accept(token);
  std::vector<float> logits(3, 0.0f);
  penalties.apply(logits);
  EXPECT_EQ(logits, (std::vector<float>{0, -1, -1}));
  for (const TokenId token : {0, 0}) penalties.accept(token);
  logits.assign(3, 0.0f);
  penalties.apply(logits);
  EXPECT_EQ(logits, (std::vector<float>{-1, 0, 0}));
  penalties.reset();
  logits.assign(3, 0.0f);
  penalties.apply(logits);
  EXPECT_EQ(logits, (std::vector<float>{0, 0, 0}));
}

TEST(Penalties, BannedTokensStayBannedAndHugeLogitsFinite) {
  SamplingOptions options{.repeat_penalty = 0.01f, .presence_penalty = -100};
  const auto logits = penalised(options, {0, 1}, {-INFINITY, 3e38f});
  EXPECT_EQ(logits[0], -INFINITY);
  EXPECT_TRUE(std::isfinite(logits[1]));
}

std::vector<float> dried(const SamplingOptions& options, const std::vector<TokenId>& history) {
  std::vector<float> logits(10, 0.0f);
  Dry dry(options, 10, 100);
  for (const TokenId token : history) dry.accept(token);
  dry.apply(logits);
  return logits;
}

// "1 2 3 4 ... 1 2 3": 4 would continue a repetition of three tokens, and nothing else would.
TEST(Dry, LowersWhatContinuesARepetition) {
  SamplingOptions options{.dry_multiplier = 1, .dry_base = 2, .dry_allowed_length = 2};
  std::vector<float> expected(10, 0.0f);
  expected[4] = -2;  // 1 * 2^(3 - 2)
  EXPECT_EQ(dried(options, {1, 2, 3, 4, 9, 1, 2, 3}), expected);
}

TEST(Dry, BreakersAndShortRepetitionsAreFree) {
  SamplingOptions options{.dry_multiplier = 1, .dry_base = 2, .dry_allowed_length = 2};
  const std::vector<float> untouched(10, 0.0f);
  EXPECT_EQ(dried(options, {3, 4, 9, 3}), untouched);
  options.dry_breakers = {2};
  EXPECT_EQ(dried(options, {1, 2, 3, 4, 9, 1, 2, 3}), untouched);
  options.dry_breakers = {4};
  EXPECT_EQ(dried(options, {1, 2, 3, 4, 9, 1, 2, 3}), untouched);
}

TEST(Dry, EndlessRepetitionStaysFinite) {
  SamplingOptions options{.dry_multiplier = 100, .dry_base = 10};
  const auto logits = dried(options, std::vector<TokenId>(100, 7));
  EXPECT_LT(logits[7], -1e29f);
  EXPECT_TRUE(std::isfinite(logits[7]));
}

}  // namespace
}  // namespace tandem
