#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "evaluation/evaluation_text.h"
#include "evaluation/logits_file.h"
#include "evaluation/logits_source.h"
#include "evaluation/statistics.h"
#include "evaluation/windows.h"

namespace tandem {

/// What each scored token of a text got, in order. All in nats.
struct TokenScores {
  std::vector<double> nll;            ///< negative log likelihood
  std::vector<double> reference_nll;  ///< the reference's; empty without one
  std::vector<double> kl;             ///< KL(reference || model); empty without a reference
  std::vector<double> same_top;       ///< 1 where both have the same most likely token, else 0
  uint64_t n_bytes = 0;               ///< of text that the scored tokens stand for
};

/// What to compare with, and where to keep the logits. At most one of the two references.
struct TextComparison {
  LogitsSource* reference = nullptr;  ///< a model with the same vocabulary
  LogitsReader* stored = nullptr;
  LogitsWriter* save = nullptr;  ///< committed by the caller
};

struct ScoringOptions {
  uint32_t vocabulary = 0;
  uint32_t max_rows = 16;  ///< logits held at once
  int n_threads = 1;       ///< for the work on logits
  /// (scored tokens done, in all); optional.
  std::function<void(uint64_t done, uint64_t total)> progress = {};
};

/// Takes the probability of every scored token of `windows`. Errors: the sources', with the window
/// and the text's tokens put before it; kNumeric for a logit that is NaN or infinite, naming window
/// and position; kInvalidArgument for stored logits of another vocabulary or text.
Result<TokenScores> score_windows(const std::vector<Window>& windows, LogitsSource& model,
                                  const TextComparison& comparison, const ScoringOptions& options);

/// The figures of a text. The intervals are BlockBootstrap's.
struct TextFigures {
  uint64_t n_scored = 0;
  size_t block = 0;  ///< consecutive tokens that the bootstrap draws together
  Measured perplexity = {};
  double bits_per_byte = 0;
  /// llama-perplexity's own error estimate, which takes the tokens for independent.
  double independent_error = 0;
  struct Divergence {
    Measured mean, median, percentile_99;
    double max = 0;
    Measured same_top;          ///< share of tokens
    Measured perplexity_ratio;  ///< to the reference's, paired
    double reference_perplexity = 0;
  };
  std::optional<Divergence> divergence = {};
};

TextFigures summarize(const TokenScores& scores, const BootstrapOptions& options = {});

}  // namespace tandem
