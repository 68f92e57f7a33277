// How certain a synthesized model's predictions are.

#include "synth/head_scale.h"

#include <algorithm>
#include <cmath>

#include "engine/session.h"

namespace tandem {
namespace {

constexpr uint32_t kProbeTokens = 32;

/// Mean probability of the most likely token when every logit is multiplied by `scale`.
double mean_top_probability(const std::vector<std::vector<float>>& logits, double scale) {
  double sum = 0;
  for (const std::vector<float>& row : logits) {
    const double best = *std::max_element(row.begin(), row.end());
    double total = 0;
    for (float x : row) total += std::exp(scale * (x - best));
    sum += 1.0 / total;
  }
  return sum / static_cast<double>(logits.size());
}

double solve_scale(const std::vector<std::vector<float>>& logits, double target) {
  double low = 1e-6, high = 1e6;
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(low * high);
    (mean_top_probability(logits, middle) < target ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

}  // namespace

Result<SynthReport> find_head_scale(const std::string& path, double target, uint64_t seed,
                                    int n_threads) {
  TANDEM_TRY(auto model, Model::load(path));
  const float cap =
      model->metadata()
          .f32_or(model->hyperparameters().architecture + ".final_logit_softcapping", 0.0f)
          .value_or(0.0f);
  TANDEM_TRY(auto engine, Engine::create(std::move(model), {.context = kProbeTokens,
                                                            .n_threads = n_threads,
                                                            .max_outputs = kProbeTokens}));
  std::vector<TokenId> tokens(kProbeTokens);
  for (uint32_t i = 0; i < kProbeTokens; ++i) {
    tokens[i] = static_cast<TokenId>((seed * 7919 + i * 104729ull) % engine->vocabulary());
  }
  std::vector<std::vector<float>> logits;
  TANDEM_TRY(auto session, Session::create(std::move(engine)));
  TANDEM_TRY(session->append_visiting_logits(
      tokens, [&](size_t, std::span<const float> row) -> Result<void> {
        logits.emplace_back(row.begin(), row.end());
        return {};
      }));
  if (cap > 0) {
    // The cap comes after the scale: solve for the logits before it.
    for (auto& row : logits) {
      for (float& x : row) x = cap * std::atanh(std::clamp(x / cap, -0.9999f, 0.9999f));
    }
  }
  const double scale = solve_scale(logits, target);
  return SynthReport{mean_top_probability(logits, scale), static_cast<float>(scale)};
}

}  // namespace tandem
