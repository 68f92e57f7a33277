// The rotary frequencies of each scaling kind.

#include "model/rope_table.h"

#include <algorithm>
#include <cmath>

namespace tandem {
namespace {

constexpr double kTwoPi = 6.283185307179586476925286766559;

/// The pair whose angle makes `turns` turns over the original context (YaRN, arXiv 2309.00071,
/// equation 17, solved for the dimension).
double pair_with_turns(const RopeTableOptions& options, double turns) {
  return options.n_rotated * std::log(options.scaling.original_context / (turns * kTwoPi)) /
         (2 * std::log(static_cast<double>(options.base)));
}

/// YaRN's ramp: 1 keeps a pair's frequency, 0 stretches it fully.
double yarn_keep(const RopeTableOptions& options, size_t pair) {
  const double low =
      std::max(0.0, std::floor(pair_with_turns(options, options.scaling.yarn_beta_fast)));
  const double high = std::min(options.n_rotated - 1.0,
                               std::ceil(pair_with_turns(options, options.scaling.yarn_beta_slow)));
  const double position = (static_cast<double>(pair) - low) / std::max(0.001, high - low);
  return options.scaling.yarn_extrapolation * (1.0 - std::clamp(position, 0.0, 1.0));
}

/// YaRN's growth of the magnitude with the stretch (arXiv 2309.00071, equation 22); Mistral's files
/// divide it by another such term.
float yarn_magnitude(const RopeScaling& scaling) {
  if (scaling.factor <= 1.0f || scaling.yarn_extrapolation == 0) return 1.0f;
  const float growth = 0.1f * std::log(scaling.factor);
  return (1.0f + growth) / (1.0f + scaling.yarn_log_multiplier * growth);
}

float magnitude(const RopeScaling& scaling) {
  const float stated = scaling.attention_factor > 0 ? scaling.attention_factor : 1.0f;
  return scaling.kind == RopeScaling::Kind::kYarn ? stated * yarn_magnitude(scaling) : stated;
}

}  // namespace

RopeTable make_rope_table(const RopeTableOptions& options) {
  RopeTable table;
  table.magnitude = magnitude(options.scaling);
  for (size_t pair = 0; pair < options.n_rotated / 2; ++pair) {
    const double exponent = -2.0 * static_cast<double>(pair) / options.n_rotated;
    double frequency = std::pow(static_cast<double>(options.base), exponent);
    if (!options.divisors.empty()) frequency /= options.divisors[pair];
    if (options.scaling.kind == RopeScaling::Kind::kLinear) frequency /= options.scaling.factor;
    if (options.scaling.kind == RopeScaling::Kind::kYarn) {
      const double keep = yarn_keep(options, pair);
      frequency = frequency / options.scaling.factor * (1.0 - keep) + frequency * keep;
    }
    table.inverse_frequencies.push_back(static_cast<float>(frequency));
  }
  return table;
}

}  // namespace tandem
