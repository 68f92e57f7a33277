#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/token_id.h"
#include "engine/sampling/sampling_options.h"

namespace tandem {

/// Repeat, frequency and presence penalty over a window of the last tokens. One thread; allocates
/// when created only: 5 bytes a token of the vocabulary and 8 a token of the window.
class Penalties {
 public:
  /// `options` must be valid; the window is at most `n_context` tokens.
  Penalties(const SamplingOptions& options, int32_t n_vocab, int32_t n_context);

  bool active() const { return !window_.empty(); }
  /// Takes a token of the vocabulary into the window; the oldest one may fall out.
  void accept(TokenId token);
  /// Changes the logits of the tokens seen: repeat first, then frequency and presence.
  void apply(std::span<float> logits);
  void reset();

 private:
  float repeat_;
  float frequency_;
  float presence_;
  std::vector<TokenId> window_;     ///< ring; empty when nothing is penalised
  size_t n_accepted_ = 0;           ///< since the start or reset
  std::vector<uint32_t> counts_;    ///< (n_vocab) occurrences in the window
  std::vector<uint8_t> is_listed_;  ///< (n_vocab) whether in seen_
  std::vector<TokenId> seen_;       ///< every token with a count, and some without any more
};

/// `options.penalty_window` or `options.dry_window` in tokens: -1 and what exceeds it is n_context.
size_t window_tokens(int32_t window, int32_t n_context);

}  // namespace tandem
