// The chain from logits to a token, in the order that docs/sampling.md draws.

#include "engine/sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/sampling/logit_scan.h"
#include "engine/sampling/portable_exp.h"

namespace tandem {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr float kBan = -100;
constexpr float kOnly = 100;

bool filters_by_weight(const SamplingOptions& o) {
  return o.typical_p < 1 || o.top_p < 1 || o.min_p > 0 || o.xtc_probability > 0;
}

}  // namespace

Result<Sampler> Sampler::create(const SamplingOptions& options, int32_t n_vocab,
                                int32_t n_context) {
  TANDEM_TRY(validate(options, n_vocab));
  if (n_context < 1) {
    return failure(ErrorCode::kInvalidArgument, "the context is {} tokens, but must be at least 1",
                   n_context);
  }
  return Sampler(options, n_vocab, n_context);
}

Sampler::Sampler(const SamplingOptions& options, int32_t n_vocab, int32_t n_context)
    : options_(options),
      n_vocab_(n_vocab),
      seed_(options.seed ? *options.seed : random_seed()),
      random_(seed_),
      penalties_(options, n_vocab, n_context),
      dry_(options, n_vocab, n_context) {
  candidates_.reserve(candidate_capacity(n_vocab_, options.top_k));
  for (const auto& [id, bias] : options.logit_bias) {
    if (bias == kOnly) exclusive_.push_back({id, 0, 0});
  }
  if (!options.logprobs) return;
  raw_logits_.resize(n_vocab_);
  top_.reserve(candidate_capacity(n_vocab_, options.top_logprobs));
  top_logprobs_.reserve(options.top_logprobs);
}

void Sampler::apply_bias(std::span<float> logits) {
  for (const auto& [id, bias] : options_.logit_bias) {
    logits[id] = bias == kBan ? kMinusInfinity : logits[id] + bias;
  }
  if (exclusive_.empty()) return;
  for (Candidate& only : exclusive_) only.logit = logits[only.id];
  std::fill(logits.begin(), logits.end(), kMinusInfinity);
  for (const Candidate& only : exclusive_) logits[only.id] = only.logit;
}

bool Sampler::edits_logits() const {
  return !options_.logit_bias.empty() || penalties_.active() || dry_.active() ||
         constraint_ != nullptr;
}

/// Checks the logits, applies what changes them (bias, penalties, constraint) and returns the best
/// token. One pass when nothing changes them.
Result<TokenId> Sampler::prepare(std::span<float> logits) {
  if (logits.size() != n_vocab_) {
    return failure(ErrorCode::kInvalidArgument,
                   "{} logits were given, but the vocabulary has {} tokens", logits.size(),
                   n_vocab_);
  }
  const LogitScan scan = scan_logits(logits);
  if (!scan.all_finite) {
    const size_t index = first_non_finite(logits);
    return failure(ErrorCode::kNumeric, "the logit of token {} (of {}) is {}", index, n_vocab_,
                   logits[index]);
  }
  if (options_.logprobs) std::copy(logits.begin(), logits.end(), raw_logits_.begin());
  if (!edits_logits()) return scan.best;
  apply_bias(logits);
  penalties_.apply(logits);
  dry_.apply(logits);
  if (constraint_ != nullptr) TANDEM_TRY(constraint_->mask(logits));
  const TokenId best = scan_logits(logits).best;
  if (best >= 0) return best;
  return failure(ErrorCode::kInvalidArgument,
                 "logit_bias and the constraint leave none of the {} tokens", n_vocab_);
}

/// Fills candidates_ and gives them probabilities; at least one token must be left.
void Sampler::narrow(std::span<const float> logits) {
  const SamplingOptions& o = options_;
  const bool greedy = o.temperature == 0;
  collect_candidates(logits, greedy ? 1 : o.top_k, candidates_);
  if (greedy) {
    candidates_.front().weight = 1;
    return;
  }
  if (filters_by_weight(o)) set_weights(candidates_, 1);
  if (o.typical_p < 1) keep_typical(candidates_, o.typical_p);
  if (o.top_p < 1) keep_top_p(candidates_, o.top_p);
  if (o.min_p > 0) keep_min_p(candidates_, o.min_p);
  if (o.xtc_probability > 0 && random_.uniform() < o.xtc_probability) {
    drop_top_choices(candidates_, o.xtc_threshold);
  }
  set_weights(candidates_, o.temperature);
  to_probabilities(candidates_);
}

Result<std::span<const Candidate>> Sampler::distribution(std::span<float> logits) {
  TANDEM_TRY(prepare(logits));
  narrow(logits);
  return candidates_;
}

Result<SampledToken> Sampler::sample(std::span<float> logits) {
  TANDEM_TRY(const TokenId best, prepare(logits));
  if (options_.temperature == 0) return report(best);
  narrow(logits);
  return report(pick(candidates_, random_.uniform()).id);
}

SampledToken Sampler::report(TokenId id) {
  SampledToken token{id, {}, {}};
  if (!options_.logprobs) return token;
  const double max = scan_logits(raw_logits_).max;
  double total = 0;
  for (const float logit : raw_logits_) total += portable_exp(logit - max);
  const double log_total = std::log(total);
  const auto logprob = [&](float logit) { return static_cast<float>(logit - max - log_total); };
  token.logprob = logprob(raw_logits_[id]);
  if (options_.top_logprobs == 0) return token;
  collect_candidates(raw_logits_, options_.top_logprobs, top_);
  top_logprobs_.clear();
  for (const Candidate& c : top_) top_logprobs_.push_back({c.id, logprob(c.logit)});
  token.top = top_logprobs_;
  return token;
}

Result<void> Sampler::check_in_vocabulary(TokenId token) const {
  if (token >= 0 && static_cast<size_t>(token) < n_vocab_) return {};
  return failure(ErrorCode::kInvalidArgument,
                 "token {} was accepted, but the vocabulary has the tokens 0 to {}", token,
                 n_vocab_ - 1);
}

Result<void> Sampler::accept_prompt(std::span<const TokenId> tokens) {
  for (const TokenId token : tokens) TANDEM_TRY(check_in_vocabulary(token));
  for (const TokenId token : tokens) {
    penalties_.accept(token);
    dry_.accept(token);
  }
  if (constraint_ != nullptr) constraint_->reset();
  return {};
}

Result<void> Sampler::accept(TokenId token) {
  TANDEM_TRY(check_in_vocabulary(token));
  if (constraint_ != nullptr) TANDEM_TRY(constraint_->accept(token));
  penalties_.accept(token);
  dry_.accept(token);
  return {};
}

void Sampler::set_constraint(std::unique_ptr<Constraint> constraint) {
  constraint_ = std::move(constraint);
}

void Sampler::reset() {
  random_ = Random(seed_);
  penalties_.reset();
  dry_.reset();
  if (constraint_ != nullptr) constraint_->reset();
}

}  // namespace tandem
