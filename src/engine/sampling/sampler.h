#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"
#include "engine/sampling/candidates.h"
#include "engine/sampling/constraint.h"
#include "engine/sampling/dry.h"
#include "engine/sampling/penalties.h"
#include "engine/sampling/random.h"
#include "engine/sampling/sampling_options.h"

namespace tandem {

struct TokenLogprob {
  TokenId id;
  float logprob;  ///< natural logarithm, at most 0
};

struct SampledToken {
  TokenId id;
  /// Set when SamplingOptions::logprobs is on.
  std::optional<float> logprob;
  /// SamplingOptions::top_logprobs entries, most likely first, ties by lower id. Owned by the
  /// sampler; valid until its next call.
  std::span<const TokenLogprob> top;
};

/// Chooses tokens from logits (docs/sampling.md). One session's, one thread's. All memory is
/// allocated by create: steady sampling allocates nothing.
///
///   TANDEM_TRY(Sampler sampler, Sampler::create(options, n_vocab, n_context));
///   TANDEM_TRY(sampler.accept_prompt(prompt));
///   for (;;) {
///     TANDEM_TRY(const SampledToken token, sampler.sample(logits));
///     TANDEM_TRY(sampler.accept(token.id));
///     ...
///   }
class Sampler {
 public:
  /// `n_vocab` is the number of logits, `n_context` bounds the penalty windows (both at least 1).
  /// Errors: kInvalidArgument naming the option, its value and its limit.
  static Result<Sampler> create(const SamplingOptions& options, int32_t n_vocab, int32_t n_context);

  /// Chooses the next token; `logits` has n_vocab entries and is used as scratch. Takes one number
  /// from the random sequence, two with XTC and none at temperature 0. The history does not change:
  /// accept does that.
  /// Errors: kNumeric naming the first NaN or infinite logit; kInvalidArgument for another number
  /// of logits or when bias and constraint leave no token; a constraint's own.
  Result<SampledToken> sample(std::span<float> logits);

  /// The tokens sample could choose and their probabilities (weight), for verifying drafts. Takes
  /// no random number but XTC's. Errors as sample's. Valid until the next call.
  Result<std::span<const Candidate>> distribution(std::span<float> logits);

  /// Tokens of the prompt: seen by the penalties; the constraint begins anew with the reply.
  /// Errors: kInvalidArgument for an id outside the vocabulary; nothing is taken then.
  Result<void> accept_prompt(std::span<const TokenId> tokens);
  /// A token of the reply: seen by the penalties and the constraint.
  /// Errors: as above, and the constraint's when it does not allow the token.
  Result<void> accept(TokenId token);

  /// Replaces the constraint on the reply; null removes it.
  void set_constraint(std::unique_ptr<Constraint> constraint);
  const Constraint* constraint() const { return constraint_.get(); }

  /// The seed in use: the option's, or the one chosen at random.
  uint64_t seed() const { return seed_; }
  const SamplingOptions& options() const { return options_; }

  /// Back to the start of a conversation: empty history, constraint reset, random sequence from the
  /// seed on again.
  void reset();

 private:
  Sampler(const SamplingOptions& options, int32_t n_vocab, int32_t n_context);

  bool edits_logits() const;
  Result<TokenId> prepare(std::span<float> logits);
  void narrow(std::span<const float> logits);
  void apply_bias(std::span<float> logits);
  Result<void> check_in_vocabulary(TokenId token) const;
  SampledToken report(TokenId id);

  SamplingOptions options_;
  size_t n_vocab_;
  uint64_t seed_;
  Random random_;
  Penalties penalties_;
  Dry dry_;
  std::unique_ptr<Constraint> constraint_;
  Candidates candidates_;
  std::vector<float> raw_logits_;  ///< (n_vocab) the model's own, when logprobs are asked for
  Candidates top_;                 ///< scratch for top_logprobs
  std::vector<TokenLogprob> top_logprobs_;
  std::vector<Candidate> exclusive_;  ///< tokens of logit_bias 100
};

}  // namespace tandem
