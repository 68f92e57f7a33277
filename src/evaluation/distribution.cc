// Probabilities of logits, and the distance between two distributions.

#include "evaluation/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tandem {

double log_sum_exp(std::span<const float> logits) {
  const float max = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - max);
  return max + std::log(sum);
}

Distribution distribution_of(std::span<const float> logits, TokenId target) {
  const double log_sum = log_sum_exp(logits);
  const auto top = std::max_element(logits.begin(), logits.end()) - logits.begin();
  return {.ids = {},
          .values = logits,
          .offset = log_sum,
          .tail = 0,
          .top = static_cast<TokenId>(top),
          .target_log_probability = logits[target] - log_sum};
}

double kl_divergence(const Distribution& p, std::span<const float> logits, double log_sum) {
  double sum = 0, kept = 0;
  for (size_t i = 0; i < p.values.size(); ++i) {
    const double log_p = p.values[i] - p.offset;
    const double log_q = logits[p.ids.empty() ? i : p.ids[i]] - log_sum;
    sum += std::exp(log_p) * (log_p - log_q);
    if (!p.ids.empty()) kept += std::exp(log_q);
  }
  if (!p.ids.empty() && p.tail > 0) {
    const double q_tail = std::max(1 - kept, std::numeric_limits<double>::min());
    sum += p.tail * std::log(p.tail / q_tail);
  }
  // Rounding alone can make the distance of equal distributions negative.
  return std::max(sum, 0.0);
}

}  // namespace tandem
