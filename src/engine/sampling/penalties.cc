// Penalties for tokens that were seen, counted over the last tokens of prompt and reply.

#include "engine/sampling/penalties.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tandem {
namespace {

/// Keeps an adjusted logit finite, so that differences of logits are numbers.
float finite(double logit) {
  constexpr double kMax = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(logit, -kMax, kMax));
}

}  // namespace

size_t window_tokens(int32_t window, int32_t n_context) {
  return window < 0 ? n_context : std::min(window, n_context);
}

Penalties::Penalties(const SamplingOptions& options, int32_t n_vocab, int32_t n_context)
    : repeat_(options.repeat_penalty),
      frequency_(options.frequency_penalty),
      presence_(options.presence_penalty) {
  if (repeat_ == 1 && frequency_ == 0 && presence_ == 0) return;
  window_.resize(window_tokens(options.penalty_window, n_context));
  if (window_.empty()) return;
  counts_.resize(n_vocab);
  is_listed_.resize(n_vocab);
  seen_.reserve(n_vocab);
}

void Penalties::accept(TokenId token) {
  if (!active()) return;
  TokenId& slot = window_[n_accepted_ % window_.size()];
  if (n_accepted_ >= window_.size()) --counts_[slot];
  slot = token;
  ++n_accepted_;
  ++counts_[token];
  if (is_listed_[token]) return;
  is_listed_[token] = 1;
  seen_.push_back(token);
}

void Penalties::apply(std::span<float> logits) {
  size_t n_kept = 0;
  for (const TokenId token : seen_) {
    const uint32_t count = counts_[token];
    is_listed_[token] = count > 0;
    if (count == 0) continue;
    seen_[n_kept++] = token;
    if (std::isinf(logits[token])) continue;  // banned, and stays so
    double logit = logits[token];
    logit = logit > 0 ? logit / repeat_ : logit * repeat_;
    logits[token] = finite(logit - double{frequency_} * count - presence_);
  }
  seen_.resize(n_kept);
}

void Penalties::reset() {
  n_accepted_ = 0;
  seen_.clear();
  std::fill(counts_.begin(), counts_.end(), 0);
  std::fill(is_listed_.begin(), is_listed_.end(), 0);
}

}  // namespace tandem
