#include "engine/sampling/sampler.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "engine/sampling/allocation_counter.h"

namespace tandem {
namespace {

using testing::HasSubstr;

constexpr int32_t kVocab = 300;

Sampler make(const SamplingOptions& options, int32_t n_vocab = kVocab) {
  auto sampler = Sampler::create(options, n_vocab, 1000);
  if (!sampler) ADD_FAILURE() << sampler.error().message;
  return std::move(*sampler);
}

/// Logits of a toy model: depend on the last token only.
std::vector<float> toy_logits(TokenId last, int32_t n_vocab = kVocab) {
  Random random(last + 1);
  std::vector<float> logits(n_vocab);
  for (float& x : logits) x = static_cast<float>(4 * random.uniform());
  return logits;
}

std::vector<TokenId> generate(Sampler& sampler, int n_tokens) {
  std::vector<TokenId> out{0};
  for (int i = 0; i < n_tokens; ++i) {
    auto logits = toy_logits(out.back());
    const auto token = sampler.sample(logits);
    if (!token) ADD_FAILURE() << token.error().message;
    out.push_back(token->id);
    EXPECT_TRUE(sampler.accept(token->id));
  }
  return out;
}

TEST(Sampler, D01_TemperatureZeroIsArgmaxWhateverTheSeed) {
  std::set<std::vector<TokenId>> texts;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Sampler sampler = make({.temperature = 0, .seed = seed});
    texts.insert(generate(sampler, 50));
  }
  EXPECT_EQ(texts.size(), 1u);
}

TEST(Sampler, D01_TiesGoToTheLowestId) {
  Sampler sampler = make({.temperature = 0}, 5);
  std::vector<float> logits{1, 3, 2, 3, 3};
  EXPECT_EQ(sampler.sample(logits)->id, 1);
}

TEST(Sampler, D01_SameSeedSameTokens) {
  std::set<std::vector<TokenId>> texts;
  for (int run = 0; run < 20; ++run) {
    Sampler sampler = make({.temperature = 0.9f, .seed = 5});
    texts.insert(generate(sampler, 50));
  }
  EXPECT_EQ(texts.size(), 1u);
  Sampler other = make({.temperature = 0.9f, .seed = 6});
  EXPECT_FALSE(texts.contains(generate(other, 50)));
}

TEST(Sampler, D01_AnotherRequestBetweenTheTokensChangesNothing) {
  Sampler alone = make({.temperature = 0.9f, .seed = 5});
  const auto expected = generate(alone, 50);
  Sampler mine = make({.temperature = 0.9f, .seed = 5});
  Sampler others = make({.temperature = 1.5f, .seed = 77});
  std::vector<TokenId> text{0};
  for (int i = 0; i < 50; ++i) {
    auto logits = toy_logits(text.back());
    text.push_back(mine.sample(logits)->id);
    ASSERT_TRUE(mine.accept(text.back()));
    generate(others, 3);
  }
  EXPECT_EQ(text, expected);
}

TEST(Sampler, D01_TheSeedChosenAtRandomIsReportedAndReproducesTheText) {
  Sampler first = make({.temperature = 0.9f});
  Sampler second = make({.temperature = 0.9f, .seed = first.seed()});
  EXPECT_EQ(generate(first, 50), generate(second, 50));
}

// Recorded once on x86-64 with g++ 12: the promise that every machine prints the same tokens.
TEST(Sampler, TokensOfASeedAreTheRecordedOnes) {
  Sampler sampler = make({.temperature = 0.9f, .seed = 5});
  EXPECT_EQ(generate(sampler, 12),
            (std::vector<TokenId>{0, 282, 251, 204, 275, 294, 36, 77, 235, 134, 243, 155, 271}));
}

TEST(Sampler, ResetReplaysTheConversation) {
  Sampler sampler = make({.repeat_penalty = 1.5f, .dry_multiplier = 1, .seed = 9});
  const auto first = generate(sampler, 40);
  EXPECT_NE(generate(sampler, 40), first);
  sampler.reset();
  EXPECT_EQ(generate(sampler, 40), first);
}

TEST(Sampler, PromptTokensCountForThePenalties) {
  Sampler sampler = make({.temperature = 0, .presence_penalty = 2}, 3);
  const std::vector<TokenId> prompt{1};
  ASSERT_TRUE(sampler.accept_prompt(prompt));
  std::vector<float> logits{1.5f, 3, 1};
  EXPECT_EQ(sampler.sample(logits)->id, 0);
}

// 200,000 draws; the chi-square statistic of 7 free counts exceeds 29.9 once in 10,000 runs.
TEST(Sampler, FrequenciesFollowTheProbabilities) {
  Sampler sampler = make({.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0, .seed = 1}, 8);
  const std::vector<float> model{0, 0.5f, 1, 1.5f, 2, -1, 0.25f, 1.75f};
  double total = 0;
  for (const float x : model) total += std::exp(double{x});
  constexpr int kDraws = 200000;
  std::vector<int> counts(8);
  for (int i = 0; i < kDraws; ++i) {
    auto logits = model;
    ++counts[sampler.sample(logits)->id];
  }
  double chi_square = 0;
  for (size_t i = 0; i < 8; ++i) {
    const double expected = kDraws * std::exp(double{model[i]}) / total;
    chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  EXPECT_LT(chi_square, 29.9);
}

// p_max = 0.5 of all four tokens is above the threshold of 0.2 with the second one, 0.25.
TEST(Sampler, XtcActsWithItsProbability) {
  const std::vector<float> model{std::log(4.0f), std::log(2.0f), 0, 0};
  SamplingOptions options{.temperature = 1,
                          .top_p = 1,
                          .min_p = 0,
                          .xtc_probability = 0.5f,
                          .xtc_threshold = 0.2f,
                          .seed = 3};
  Sampler sampler = make(options, 4);
  int n_best = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    auto logits = model;
    n_best += sampler.sample(logits)->id == 0;
  }
  EXPECT_NEAR(n_best / double{kDraws}, 0.25, 5 * std::sqrt(0.25 * 0.75 / kDraws));
}

TEST(Sampler, D09_LogprobsAloneGiveTheChosenToken) {
  Sampler sampler = make({.temperature = 0, .logprobs = true}, 3);
  std::vector<float> logits{0, std::log(2.0f), 0};
  const auto token = sampler.sample(logits);
  ASSERT_TRUE(token);
  EXPECT_EQ(token->id, 1);
  EXPECT_NEAR(*token->logprob, std::log(0.5), 1e-6);
  EXPECT_TRUE(token->top.empty());
}

TEST(Sampler, D09_TopLogprobsAreSortedAndNeverPositive) {
  Sampler sampler = make({.seed = 1, .logprobs = true, .top_logprobs = 2}, 4);
  std::vector<float> logits{-2, 5, 5, 90};
  const auto token = sampler.sample(logits);
  ASSERT_EQ(token->top.size(), 2u);
  EXPECT_EQ(token->top[0].id, 3);
  EXPECT_EQ(token->top[1].id, 1) << "ties go to the lower id";
  EXPECT_LE(token->top[0].logprob, 0);
  EXPECT_NEAR(token->top[1].logprob, -85, 1e-4);
}

// The report tells what the model thought, not what the settings made of it.
TEST(Sampler, LogprobsIgnoreBiasPenaltiesAndTemperature) {
  Sampler sampler = make(
      {.temperature = 0, .logit_bias = {{0, -100}, {2, 10}}, .logprobs = true, .top_logprobs = 3},
      3);
  std::vector<float> logits{std::log(2.0f), 0, 0};
  const auto token = sampler.sample(logits);
  EXPECT_EQ(token->id, 2);
  EXPECT_NEAR(*token->logprob, std::log(0.25), 1e-6);
  EXPECT_EQ(token->top[0].id, 0);
  EXPECT_NEAR(token->top[0].logprob, std::log(0.5), 1e-6);
}

TEST(Sampler, D09_BiasOfAHundredIsTheOnlyChoiceAndMinusAHundredNone) {
  for (const float temperature : {0.0f, 5.0f}) {
    Sampler only = make({.temperature = temperature, .logit_bias = {{7, 100}}, .seed = 1}, 9);
    Sampler never = make({.temperature = temperature, .logit_bias = {{7, -100}}, .seed = 1}, 9);
    for (int i = 0; i < 200; ++i) {
      std::vector<float> logits{500, 0, 0, 0, 0, 0, 0, -500, 0};
      EXPECT_EQ(only.sample(logits)->id, 7);
      logits = {0, 0, 0, 0, 0, 0, 0, 500, 0};
      EXPECT_NE(never.sample(logits)->id, 7);
    }
  }
}

TEST(Sampler, BadLogitsAreNumericErrorsThatNameTheToken) {
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    Sampler sampler = make({.temperature = 0});
    auto logits = toy_logits(1);
    logits[217] = bad;
    const auto token = sampler.sample(logits);
    ASSERT_FALSE(token);
    EXPECT_EQ(token.error().code, ErrorCode::kNumeric);
    EXPECT_THAT(token.error().message, HasSubstr("token 217 (of 300)"));
  }
}

TEST(Sampler, WrongArgumentsAreErrors) {
  EXPECT_FALSE(Sampler::create({.top_p = 2}, 10, 10));
  EXPECT_THAT(Sampler::create({}, 10, 0).error().message, HasSubstr("context is 0"));
  Sampler sampler = make({}, 10);
  std::vector<float> logits(11);
  EXPECT_THAT(sampler.sample(logits).error().message, HasSubstr("11 logits"));
  EXPECT_THAT(sampler.accept(10).error().message, HasSubstr("0 to 9"));
  EXPECT_THAT(sampler.accept(-1).error().message, HasSubstr("token -1"));
  EXPECT_FALSE(sampler.accept_prompt(std::vector<TokenId>{1, 12}));
}

/// Allows the tokens of a fixed sequence, one after the other.
class OnlySequence : public Constraint {
 public:
  explicit OnlySequence(std::vector<TokenId> sequence) : sequence_(std::move(sequence)) {}
  Result<void> mask(std::span<float> logits) override {
    for (size_t id = 0; id < logits.size(); ++id) {
      const bool allowed = !is_complete() && static_cast<TokenId>(id) == sequence_[place_];
      if (!allowed) logits[id] = -INFINITY;
    }
    return {};
  }
  Result<void> accept(TokenId token) override {
    if (is_complete() || token != sequence_[place_]) {
      return failure(ErrorCode::kInvalidArgument, "token {} is not allowed here", token);
    }
    ++place_;
    return {};
  }
  bool is_complete() const override { return place_ == sequence_.size(); }
  void reset() override { place_ = 0; }

 private:
  std::vector<TokenId> sequence_;
  size_t place_ = 0;
};

TEST(Sampler, ConstraintDecidesWhatMayComeNext) {
  for (const float temperature : {0.0f, 1.0f}) {
    Sampler sampler = make({.temperature = temperature, .seed = 4});
    sampler.set_constraint(std::make_unique<OnlySequence>(std::vector<TokenId>{9, 200, 3}));
    ASSERT_TRUE(sampler.accept_prompt(std::vector<TokenId>{1, 2})) << "prompts are not constrained";
    EXPECT_FALSE(sampler.constraint()->is_complete());
    EXPECT_EQ(generate(sampler, 3), (std::vector<TokenId>{0, 9, 200, 3}));
    EXPECT_TRUE(sampler.constraint()->is_complete());
    auto logits = toy_logits(0);
    EXPECT_THAT(sampler.sample(logits).error().message, HasSubstr("leave none of the 300 tokens"));
    sampler.reset();
    EXPECT_EQ(generate(sampler, 3), (std::vector<TokenId>{0, 9, 200, 3}));
  }
}

TEST(Sampler, ConstraintRefusesWhatItDoesNotAllow) {
  Sampler sampler = make({});
  sampler.set_constraint(std::make_unique<OnlySequence>(std::vector<TokenId>{9}));
  EXPECT_THAT(sampler.accept(8).error().message, HasSubstr("token 8 is not allowed"));
  EXPECT_TRUE(sampler.accept(9));
  sampler.set_constraint(nullptr);
  EXPECT_TRUE(sampler.accept(8));
}

// Speculative verification relies on it: asking for a distribution must not move the sequence.
TEST(Sampler, DistributionTakesNoRandomNumber) {
  Sampler plain = make({.seed = 2}), asked = make({.seed = 2});
  for (int i = 0; i < 20; ++i) {
    auto a = toy_logits(i), b = toy_logits(i), c = toy_logits(i);
    ASSERT_TRUE(asked.distribution(c));
    EXPECT_EQ(plain.sample(a)->id, asked.sample(b)->id);
  }
}

TEST(Sampler, SteadyStateAllocatesNothing) {
  const SamplingOptions everything{.top_k = 0,
                                   .typical_p = 0.9f,
                                   .repeat_penalty = 1.1f,
                                   .frequency_penalty = 0.1f,
                                   .penalty_window = 16,
                                   .dry_multiplier = 1,
                                   .dry_breakers = {3},
                                   .xtc_probability = 0.5f,
                                   .logit_bias = {{1, 2}, {5, -100}},
                                   .seed = 1,
                                   .logprobs = true,
                                   .top_logprobs = 20};
  for (const SamplingOptions& options : {SamplingOptions{}, SamplingOptions{.temperature = 0},
                                         SamplingOptions{.top_k = 3000}, everything}) {
    Sampler sampler = make(options, 20000);
    std::vector<std::vector<float>> steps;
    for (int i = 0; i < 50; ++i) steps.push_back(toy_logits(i, 20000));
    const size_t before = n_allocations();
    for (auto& logits : steps) {
      const auto token = sampler.sample(logits);
      ASSERT_TRUE(token && sampler.accept(token->id));
    }
    EXPECT_EQ(n_allocations(), before);
  }
}

}  // namespace
}  // namespace tandem
