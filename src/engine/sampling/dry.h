#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/token_id.h"
#include "engine/sampling/sampling_options.h"

namespace tandem {

/// DRY ("don't repeat yourself") penalty for tokens that would continue a repetition (docs/
/// sampling.md). One thread; allocates when created only; linear in the window.
class Dry {
 public:
  /// `options` must be valid; the window is at most `n_context` tokens.
  Dry(const SamplingOptions& options, int32_t n_vocab, int32_t n_context);

  bool active() const { return !window_.empty(); }
  /// Takes a token of the vocabulary into the window.
  void accept(TokenId token);
  void apply(std::span<float> logits);
  void reset() { n_accepted_ = 0; }

 private:
  void unroll_newest_first();
  void measure_repetitions();

  size_t allowed_length_;
  std::vector<TokenId> window_;      ///< ring; empty when off
  size_t n_accepted_ = 0;            ///< since the start or reset
  std::vector<uint8_t> is_breaker_;  ///< (n_vocab)
  std::vector<double> penalties_;    ///< by length beyond the allowed one, capped
  std::vector<TokenId> newest_;      ///< the window, newest token first
  size_t n_unbroken_ = 0;            ///< tokens of newest_ before the first breaker
  std::vector<uint32_t> matches_;    ///< matches_[i]: how far newest_[i..] equals newest_[0..]
  std::vector<uint32_t> longest_;    ///< (n_vocab) longest repetition the token would continue
};

}  // namespace tandem
