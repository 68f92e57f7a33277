// Perplexity of a text, and the distance of its distributions from a reference's.

#include "evaluation/text_evaluation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "engine/sampling/logit_scan.h"

namespace tandem {
namespace {

/// Logits of some targets, and the reference's distributions for them.
struct Rows {
  std::vector<float> logits;            ///< (max_rows, vocabulary)
  std::vector<float> reference_logits;  ///< likewise
  std::vector<LogitsReader::Row> stored;
  std::vector<Distribution> reference;
};

class Scorer {
 public:
  Scorer(LogitsSource& model, const TextComparison& comparison, const ScoringOptions& options)
      : model_(model), comparison_(comparison), options_(options), pool_(options.n_threads) {
    const size_t n_logits = size_t{options.max_rows} * options.vocabulary;
    rows_.logits.resize(n_logits);
    if (comparison.reference != nullptr) rows_.reference_logits.resize(n_logits);
    rows_.stored.resize(options.max_rows);
    rows_.reference.resize(options.max_rows);
  }

  Result<void> run(const Window& window) {
    const auto context = std::span(window.tokens).first(window.n_context);
    TANDEM_TRY(model_.begin(context));
    if (comparison_.reference != nullptr) {
      TANDEM_TRY(with_reference(comparison_.reference->begin(context)));
    }
    for (size_t done = window.n_context; done < window.tokens.size();) {
      const size_t n = std::min<size_t>(options_.max_rows, window.tokens.size() - done);
      const auto targets = std::span(window.tokens).subspan(done, n);
      TANDEM_TRY(model_.predict(targets, rows_.logits.data()));
      TANDEM_TRY(check_finite(rows_.logits, n, done));
      TANDEM_TRY(fetch_reference(targets, done));
      score(targets);
      TANDEM_TRY(save(targets));
      done += n;
    }
    return {};
  }

  TokenScores take() { return std::move(scores_); }

 private:
  std::span<const float> row(const std::vector<float>& logits, size_t i) const {
    return std::span(logits).subspan(i * options_.vocabulary, options_.vocabulary);
  }

  bool has_reference() const {
    return comparison_.reference != nullptr || comparison_.stored != nullptr;
  }

  static Result<void> with_reference(Result<void> outcome) {
    if (!outcome) return tl::unexpected(outcome.error().within("reference"));
    return outcome;
  }

  Result<void> check_finite(const std::vector<float>& logits, size_t n, size_t position) const {
    for (size_t i = 0; i < n; ++i) {
      const size_t bad = first_non_finite(row(logits, i));
      if (bad == options_.vocabulary) continue;
      return failure(ErrorCode::kNumeric, "position {}: the logit of token {} is {}",
                     position + i - 1, bad, row(logits, i)[bad]);
    }
    return {};
  }

  Result<void> fetch_reference(std::span<const TokenId> targets, size_t position) {
    if (comparison_.reference != nullptr) {
      float* logits = rows_.reference_logits.data();
      TANDEM_TRY(with_reference(comparison_.reference->predict(targets, logits)));
      TANDEM_TRY(with_reference(check_finite(rows_.reference_logits, targets.size(), position)));
      pool_.parallel_for(targets.size(), 1, [&](size_t begin, size_t end, int) {
        for (size_t i = begin; i < end; ++i) {
          rows_.reference[i] = distribution_of(row(rows_.reference_logits, i), targets[i]);
        }
      });
    }
    if (comparison_.stored != nullptr) {
      for (size_t i = 0; i < targets.size(); ++i) {
        TANDEM_TRY(comparison_.stored->next(rows_.stored[i]));
        rows_.reference[i] = rows_.stored[i].distribution;
      }
    }
    return {};
  }

  void score(std::span<const TokenId> targets) {
    const size_t first = scores_.nll.size();
    const size_t n = first + targets.size();
    scores_.nll.resize(n);
    if (has_reference()) {
      for (auto* v : {&scores_.reference_nll, &scores_.kl, &scores_.same_top}) v->resize(n);
    }
    distributions_.resize(targets.size());
    pool_.parallel_for(targets.size(), 1, [&](size_t begin, size_t end, int) {
      for (size_t i = begin; i < end; ++i) {
        const Distribution own = distribution_of(row(rows_.logits, i), targets[i]);
        distributions_[i] = own;
        scores_.nll[first + i] = -own.target_log_probability;
        if (!has_reference()) continue;
        const Distribution& reference = rows_.reference[i];
        scores_.reference_nll[first + i] = -reference.target_log_probability;
        scores_.kl[first + i] = kl_divergence(reference, row(rows_.logits, i), own.offset);
        scores_.same_top[first + i] = own.top == reference.top;
      }
    });
  }

  Result<void> save(std::span<const TokenId> targets) {
    if (comparison_.save == nullptr) return {};
    for (size_t i = 0; i < targets.size(); ++i) {
      TANDEM_TRY(comparison_.save->add(distributions_[i]));
    }
    return {};
  }

  LogitsSource& model_;
  const TextComparison& comparison_;
  const ScoringOptions& options_;
  ThreadPool pool_;
  Rows rows_;
  std::vector<Distribution> distributions_;
  TokenScores scores_;
};

Result<void> check_binding(const LogitsReader& stored, const std::vector<Window>& windows,
                           uint64_t n_scored, uint32_t vocabulary) {
  const LogitsBinding& binding = stored.binding();
  if (binding.vocabulary != vocabulary) {
    return failure(ErrorCode::kInvalidArgument, "{}: logits over {} tokens, the model has {}",
                   stored.path(), binding.vocabulary, vocabulary);
  }
  if (binding.windows != windows_hash(windows) || binding.n_rows != n_scored) {
    return failure(ErrorCode::kInvalidArgument,
                   "{}: logits of {} tokens of another text, or of other windows; {} are scored",
                   stored.path(), binding.n_rows, n_scored);
  }
  return {};
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double independent_error(const std::vector<double>& nll, double mean) {
  if (nll.size() < 2) return 0;
  double squares = 0;
  for (const double v : nll) squares += v * v;
  const auto n = static_cast<double>(nll.size());
  return std::exp(mean) * std::sqrt(std::max(squares / n - mean * mean, 0.0) / (n - 1));
}

}  // namespace

Result<TokenScores> score_windows(const std::vector<Window>& windows, LogitsSource& model,
                                  const TextComparison& comparison, const ScoringOptions& options) {
  TANDEM_CHECK(options.vocabulary > 0 && options.max_rows > 0);
  TANDEM_CHECK(comparison.reference == nullptr || comparison.stored == nullptr);
  uint64_t total = 0, done = 0;
  for (const Window& window : windows) total += window.n_scored();
  if (comparison.stored != nullptr) {
    TANDEM_TRY(check_binding(*comparison.stored, windows, total, options.vocabulary));
  }
  Scorer scorer(model, comparison, options);
  for (size_t i = 0; i < windows.size(); ++i) {
    if (const auto outcome = scorer.run(windows[i]); !outcome) {
      const size_t first = windows[i].text_position;
      return tl::unexpected(outcome.error().within(
          fmt::format("window {} of {} (scores tokens {} to {})", i + 1, windows.size(), first,
                      first + windows[i].n_scored() - 1)));
    }
    done += windows[i].n_scored();
    if (options.progress) options.progress(done, total);
  }
  return scorer.take();
}

TextFigures summarize(const TokenScores& scores, const BootstrapOptions& options) {
  const BlockBootstrap bootstrap(scores.nll.size(), options);
  const auto exp = [](double x) { return std::exp(x); };
  TextFigures out{.n_scored = scores.nll.size(), .block = bootstrap.block()};
  if (scores.nll.empty()) return out;
  out.perplexity = bootstrap.mean(scores.nll, exp);
  const double mean = mean_of(scores.nll);
  out.independent_error = independent_error(scores.nll, mean);
  if (scores.n_bytes > 0) {
    out.bits_per_byte = mean * static_cast<double>(scores.nll.size()) / std::log(2.0) /
                        static_cast<double>(scores.n_bytes);
  }
  if (scores.kl.empty()) return out;
  std::vector<double> difference(scores.nll.size());
  std::transform(scores.nll.begin(), scores.nll.end(), scores.reference_nll.begin(),
                 difference.begin(), std::minus<>());
  out.divergence =
      TextFigures::Divergence{.mean = bootstrap.mean(scores.kl),
                              .median = bootstrap.quantile(scores.kl, 0.5),
                              .percentile_99 = bootstrap.quantile(scores.kl, 0.99),
                              .max = *std::max_element(scores.kl.begin(), scores.kl.end()),
                              .same_top = bootstrap.mean(scores.same_top),
                              .perplexity_ratio = bootstrap.mean(difference, exp),
                              .reference_perplexity = std::exp(mean_of(scores.reference_nll))};
  return out;
}

}  // namespace tandem
