#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "base/result.h"
#include "base/token_id.h"

namespace tandem {

/// How the next token is chosen. Plain settings; Sampler::create checks them. The order in which
/// they act is drawn in docs/sampling.md. The defaults are those of llama.cpp.
struct SamplingOptions {
  /// Divides the logits of the tokens left by all filters. 0: always the most likely token, ties to
  /// the lowest id, and the seed is irrelevant. Limits: 0 to 1000.
  float temperature = 0.8f;
  /// Keeps the k most likely tokens. 0: off.
  int32_t top_k = 40;
  /// Keeps the most likely tokens whose probabilities add up to p. 1: off; 0 keeps one token.
  float top_p = 0.95f;
  /// Keeps tokens at least this many times as likely as the most likely one. 0: off.
  float min_p = 0.05f;
  /// Keeps the tokens whose surprise is nearest to the expected one, up to probability p
  /// (Meister et al. 2022, locally typical sampling). 1: off.
  float typical_p = 1.0f;

  /// Positive logits of seen tokens are divided by it, negative ones multiplied (Keskar et al.
  /// 2019). 1: off. Limits: 0.01 to 100.
  float repeat_penalty = 1.0f;
  /// Subtracted from the logit once for every time the token was seen. Limits: -100 to 100.
  float frequency_penalty = 0.0f;
  /// Subtracted once from the logit of a token that was seen at all. Limits: -100 to 100.
  float presence_penalty = 0.0f;
  /// How many of the last tokens, prompt and reply alike, the three penalties look at.
  /// 0: penalties off; -1: the whole context.
  int32_t penalty_window = 64;

  /// DRY: a token that would continue a repetition of n tokens, n >= dry_allowed_length, loses
  /// dry_multiplier * dry_base^(n - dry_allowed_length) from its logit. 0: off. Limits: 0 to 100.
  float dry_multiplier = 0.0f;
  float dry_base = 1.75f;          ///< 1 to 10
  int32_t dry_allowed_length = 2;  ///< tokens, at least 1
  int32_t dry_window = -1;         ///< tokens looked at, as penalty_window
  /// Repetitions do not reach over these tokens (line ends, quotes). At most 1024 ids.
  std::set<TokenId> dry_breakers = {};

  /// XTC ("exclude top choices"): with this probability a token's turn drops all tokens of at least
  /// xtc_threshold but the least likely of them. 0: off.
  float xtc_probability = 0.0f;
  float xtc_threshold = 0.1f;  ///< probability, 0 to 1; above 0.5 nothing can happen

  /// Added to a token's logit before everything else, -100 to 100. -100 bans the
  /// token; if any token has 100, only such tokens can be chosen. At most 4096 entries.
  std::map<TokenId, float> logit_bias = {};

  /// Same seed, options and logits: same tokens, on every machine. Unset: a random 32-bit seed is
  /// chosen and reported by Sampler::seed().
  std::optional<uint64_t> seed = {};

  /// Report the log probability of the chosen token: natural logarithm, under the model's own
  /// distribution, before bias, penalties, constraint, filters and temperature.
  bool logprobs = false;
  /// Report that many of the most likely tokens too, most likely first. Needs logprobs.
  int32_t top_logprobs = 0;
};

/// Errors: kInvalidArgument naming option, value and limit. `n_vocab` is the number of logits.
Result<void> validate(const SamplingOptions& options, int32_t n_vocab);

}  // namespace tandem
