// Which sampling settings make sense, told in the words a user can act on.

#include "engine/sampling/sampling_options.h"

#include <cmath>

namespace tandem {
namespace {

constexpr size_t kMaxBiases = 4096;
constexpr size_t kMaxBreakers = 1024;
constexpr int32_t kAllContext = -1;

Result<void> in_range(const char* name, float value, float low, float high) {
  if (std::isfinite(value) && value >= low && value <= high) return {};
  return failure(ErrorCode::kInvalidArgument, "{} is {}, but must be from {} to {}", name, value,
                 low, high);
}

Result<void> at_least(const char* name, int32_t value, int32_t low) {
  if (value >= low) return {};
  return failure(ErrorCode::kInvalidArgument, "{} is {}, but must be at least {}", name, value,
                 low);
}

Result<void> in_vocabulary(const char* name, TokenId id, int32_t n_vocab) {
  if (id >= 0 && id < n_vocab) return {};
  return failure(ErrorCode::kInvalidArgument,
                 "{} names token {}, but the vocabulary has the tokens 0 to {}", name, id,
                 n_vocab - 1);
}

Result<void> few_enough(const char* name, size_t n, size_t limit) {
  if (n <= limit) return {};
  return failure(ErrorCode::kInvalidArgument, "{} has {} entries, but at most {} are allowed", name,
                 n, limit);
}

Result<void> validate_filters(const SamplingOptions& o) {
  TANDEM_TRY(in_range("temperature", o.temperature, 0, 1000));
  TANDEM_TRY(at_least("top_k", o.top_k, 0));
  TANDEM_TRY(in_range("top_p", o.top_p, 0, 1));
  TANDEM_TRY(in_range("min_p", o.min_p, 0, 1));
  TANDEM_TRY(in_range("typical_p", o.typical_p, 0, 1));
  TANDEM_TRY(in_range("xtc_probability", o.xtc_probability, 0, 1));
  return in_range("xtc_threshold", o.xtc_threshold, 0, 1);
}

Result<void> validate_penalties(const SamplingOptions& o, int32_t n_vocab) {
  TANDEM_TRY(in_range("repeat_penalty", o.repeat_penalty, 0.01f, 100));
  TANDEM_TRY(in_range("frequency_penalty", o.frequency_penalty, -100, 100));
  TANDEM_TRY(in_range("presence_penalty", o.presence_penalty, -100, 100));
  TANDEM_TRY(at_least("penalty_window", o.penalty_window, kAllContext));
  TANDEM_TRY(in_range("dry_multiplier", o.dry_multiplier, 0, 100));
  TANDEM_TRY(in_range("dry_base", o.dry_base, 1, 10));
  TANDEM_TRY(at_least("dry_allowed_length", o.dry_allowed_length, 1));
  TANDEM_TRY(at_least("dry_window", o.dry_window, kAllContext));
  TANDEM_TRY(few_enough("dry_breakers", o.dry_breakers.size(), kMaxBreakers));
  for (const TokenId id : o.dry_breakers) TANDEM_TRY(in_vocabulary("dry_breakers", id, n_vocab));
  return {};
}

Result<void> validate_bias(const SamplingOptions& o, int32_t n_vocab) {
  TANDEM_TRY(few_enough("logit_bias", o.logit_bias.size(), kMaxBiases));
  for (const auto& [id, bias] : o.logit_bias) {
    TANDEM_TRY(in_vocabulary("logit_bias", id, n_vocab));
    if (std::isfinite(bias) && bias >= -100 && bias <= 100) continue;
    return failure(ErrorCode::kInvalidArgument,
                   "logit_bias of token {} is {}, but must be from -100 to 100", id, bias);
  }
  return {};
}

}  // namespace

Result<void> validate(const SamplingOptions& options, int32_t n_vocab) {
  TANDEM_TRY(at_least("the number of logits", n_vocab, 1));
  TANDEM_TRY(validate_filters(options));
  TANDEM_TRY(validate_penalties(options, n_vocab));
  TANDEM_TRY(validate_bias(options, n_vocab));
  TANDEM_TRY(at_least("top_logprobs", options.top_logprobs, 0));
  if (options.top_logprobs > 0 && !options.logprobs) {
    return failure(ErrorCode::kInvalidArgument,
                   "top_logprobs is {}, but logprobs is off: turn logprobs on too",
                   options.top_logprobs);
  }
  if (options.top_logprobs > n_vocab) {
    return failure(ErrorCode::kInvalidArgument,
                   "top_logprobs is {}, but the vocabulary has {} tokens", options.top_logprobs,
                   n_vocab);
  }
  return {};
}

}  // namespace tandem
