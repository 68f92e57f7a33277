// How certain a synthesized model's predictions are.

#include "synth/head_scale.h"

#include <algorithm>
#include <cmath>

#include "engine/session.h"

namespace tandem {
namespace {

constexpr uint32_t kProbeTokens = 32;

/// The logits before any soft cap, and the cap that follows (0: none).
struct Logits {
  std::vector<std::vector<float>> rows;
  float cap = 0;

  double capped(double x) const { return cap == 0 ? x : cap * std::tanh(x / cap); }
};

/// Mean probability of the most likely token when the head is multiplied by `scale`.
double mean_top_probability(const Logits& logits, double scale) {
  double sum = 0;
  for (const std::vector<float>& row : logits.rows) {
    const double best = logits.capped(scale * *std::max_element(row.begin(), row.end()));
    double total = 0;
    for (float x : row) total += std::exp(logits.capped(scale * x) - best);
    sum += 1.0 / total;
  }
  return sum / static_cast<double>(logits.rows.size());
}

/// The smallest scale that reaches the target, or the one that comes nearest: with a soft cap
/// larger ones flatten the logits again.
double solve_scale(const Logits& logits, double target) {
  constexpr double kStep = 1.1;
  double best = 1e-2, best_probability = 0;
  for (double scale = best; scale < 1e3; scale *= kStep) {
    const double probability = mean_top_probability(logits, scale);
    if (probability > best_probability) {
      best = scale;
      best_probability = probability;
    }
    if (probability >= target) break;
  }
  if (best_probability < target) return best;
  double low = best / kStep, high = best;
  for (int i = 0; i < 30; ++i) {
    const double middle = std::sqrt(low * high);
    (mean_top_probability(logits, middle) < target ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

}  // namespace

Result<SynthReport> find_head_scale(const std::string& path, double target, uint64_t seed,
                                    int n_threads) {
  TANDEM_TRY(auto model, Model::load(path));
  Logits logits;
  TANDEM_TRY(logits.cap,
             model->metadata().f32_or(
                 model->hyperparameters().architecture + ".final_logit_softcapping", 0.0f));
  TANDEM_TRY(auto engine, Engine::create(std::move(model), {.context = kProbeTokens,
                                                            .n_threads = n_threads,
                                                            .max_outputs = kProbeTokens}));
  std::vector<TokenId> tokens(kProbeTokens);
  for (uint32_t i = 0; i < kProbeTokens; ++i) {
    tokens[i] = static_cast<TokenId>((seed * 7919 + i * 104729ull) % engine->vocabulary());
  }
  TANDEM_TRY(auto session, Session::create(std::move(engine)));
  TANDEM_TRY(session->append_visiting_logits(
      tokens, [&](size_t, std::span<const float> row) -> Result<void> {
        logits.rows.emplace_back(row.begin(), row.end());
        for (float& x : logits.rows.back()) {
          if (logits.cap > 0) x = logits.cap * std::atanh(x / logits.cap);
        }
        return {};
      }));
  const double scale = solve_scale(logits, target);
  return SynthReport{mean_top_probability(logits, scale), static_cast<float>(scale)};
}

}  // namespace tandem
