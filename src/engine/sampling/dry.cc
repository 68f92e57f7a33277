// The DRY penalty: finds how long a repetition each token would continue.

#include "engine/sampling/dry.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/sampling/penalties.h"

namespace tandem {
namespace {

constexpr double kLargestPenalty = 1e30;  // as good as a ban, and sums stay finite
constexpr double kLargestLogit = std::numeric_limits<float>::max();

}  // namespace

Dry::Dry(const SamplingOptions& options, int32_t n_vocab, int32_t n_context)
    : allowed_length_(options.dry_allowed_length) {
  if (options.dry_multiplier == 0) return;
  window_.resize(window_tokens(options.dry_window, n_context));
  if (window_.empty()) return;
  is_breaker_.resize(n_vocab);
  for (const TokenId id : options.dry_breakers) is_breaker_[id] = 1;
  penalties_.resize(window_.size());
  double penalty = options.dry_multiplier;
  for (double& entry : penalties_) {
    entry = penalty;
    penalty = std::min(penalty * options.dry_base, kLargestPenalty);
  }
  newest_.reserve(window_.size());
  matches_.resize(window_.size());
  longest_.resize(n_vocab);
}

void Dry::accept(TokenId token) {
  if (active()) window_[n_accepted_++ % window_.size()] = token;
}

void Dry::unroll_newest_first() {
  const size_t n = std::min(n_accepted_, window_.size());
  newest_.clear();
  for (size_t i = 0; i < n; ++i) newest_.push_back(window_[(n_accepted_ - 1 - i) % window_.size()]);
  n_unbroken_ = 0;
  while (n_unbroken_ < n && !is_breaker_[newest_[n_unbroken_]]) ++n_unbroken_;
}

/// The Z algorithm (Gusfield 1997, section 1.4) over the reversed window.
void Dry::measure_repetitions() {
  const size_t n = newest_.size();
  size_t left = 0, right = 0;  // the match that reaches furthest
  for (size_t i = 1; i < n; ++i) {
    size_t length = i < right ? std::min<size_t>(right - i, matches_[i - left]) : 0;
    while (i + length < n && newest_[length] == newest_[i + length]) ++length;
    matches_[i] = static_cast<uint32_t>(length);
    if (i + length > right) left = i, right = i + length;
  }
}

// A match at i says: the last `length` tokens stood before newest_[i - 1] once already.
void Dry::apply(std::span<float> logits) {
  if (!active()) return;
  unroll_newest_first();
  measure_repetitions();
  for (size_t i = 1; i < newest_.size(); ++i) {
    const auto length = static_cast<uint32_t>(std::min<size_t>(matches_[i], n_unbroken_));
    uint32_t& longest = longest_[newest_[i - 1]];
    longest = std::max(longest, length);
  }
  for (const TokenId token : newest_) {
    const size_t length = std::exchange(longest_[token], 0);
    if (length < allowed_length_ || is_breaker_[token] || std::isinf(logits[token])) continue;
    const double lowered = logits[token] - penalties_[length - allowed_length_];
    logits[token] = static_cast<float>(std::max(lowered, -kLargestLogit));
  }
}

}  // namespace tandem
