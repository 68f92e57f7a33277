#include "engine/sampling/sampling_options.h"

#include <gmock/gmock.h>

#include <cmath>

namespace tandem {
namespace {

using testing::HasSubstr;

void expect_refused(const SamplingOptions& options, const char* name, const char* value,
                    const char* limit) {
  const auto result = validate(options, 300);
  ASSERT_FALSE(result) << name;
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(result.error().message, HasSubstr(name));
  EXPECT_THAT(result.error().message, HasSubstr(value));
  EXPECT_THAT(result.error().message, HasSubstr(limit));
}

TEST(SamplingOptions, DefaultsAndLimitsAreAccepted) {
  EXPECT_TRUE(validate({}, 300));
  EXPECT_TRUE(validate({.temperature = 0, .top_k = 0, .top_p = 0, .min_p = 1}, 300));
  EXPECT_TRUE(validate({.penalty_window = -1, .logit_bias = {{299, 100}, {0, -100}}}, 300));
  EXPECT_TRUE(validate({.logprobs = true, .top_logprobs = 300}, 300));
}

TEST(SamplingOptions, ErrorsNameOptionValueAndLimit) {
  expect_refused({.temperature = -0.5f}, "temperature", "-0.5", "0 to 1000");
  expect_refused({.temperature = NAN}, "temperature", "nan", "0 to 1000");
  expect_refused({.temperature = INFINITY}, "temperature", "inf", "0 to 1000");
  expect_refused({.top_k = -1}, "top_k", "-1", "at least 0");
  expect_refused({.top_p = 1.5f}, "top_p", "1.5", "0 to 1");
  expect_refused({.min_p = -0.1f}, "min_p", "-0.1", "0 to 1");
  expect_refused({.typical_p = 2}, "typical_p", "2", "0 to 1");
  expect_refused({.repeat_penalty = 0}, "repeat_penalty", "0", "0.01 to 100");
  expect_refused({.frequency_penalty = 101}, "frequency_penalty", "101", "-100 to 100");
  expect_refused({.presence_penalty = -101}, "presence_penalty", "-101", "-100 to 100");
  expect_refused({.penalty_window = -2}, "penalty_window", "-2", "at least -1");
  expect_refused({.dry_multiplier = -1}, "dry_multiplier", "-1", "0 to 100");
  expect_refused({.dry_base = 0.5f}, "dry_base", "0.5", "1 to 10");
  expect_refused({.dry_allowed_length = 0}, "dry_allowed_length", "0", "at least 1");
  expect_refused({.dry_window = -7}, "dry_window", "-7", "at least -1");
  expect_refused({.dry_breakers = {300}}, "dry_breakers", "300", "0 to 299");
  expect_refused({.xtc_probability = 7}, "xtc_probability", "7", "0 to 1");
  expect_refused({.xtc_threshold = -1}, "xtc_threshold", "-1", "0 to 1");
  expect_refused({.logit_bias = {{7, 101}}}, "logit_bias of token 7", "101", "-100 to 100");
  expect_refused({.top_logprobs = 2}, "top_logprobs", "2", "logprobs is off");
  expect_refused({.logprobs = true, .top_logprobs = 301}, "top_logprobs", "301", "300");
}

TEST(SamplingOptions, D09_BiasOfAnUnknownTokenIsRefused) {
  expect_refused({.logit_bias = {{999999, 1}}}, "logit_bias", "999999", "0 to 299");
  expect_refused({.logit_bias = {{-1, 1}}}, "logit_bias", "-1", "0 to 299");
}

TEST(SamplingOptions, AnEmptyVocabularyIsRefused) {
  const auto result = validate({}, 0);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("number of logits is 0"));
}

}  // namespace
}  // namespace tandem
