// Confidence intervals and paired tests.

#include "evaluation/statistics.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace tandem {
namespace {

constexpr double kZ95 = 1.959963984540054;  // 97.5 % quantile of the normal distribution
constexpr size_t kMaxBlock = 256;
constexpr size_t kWantedBlocks = 100;
constexpr size_t kQuantileResamples = 200;  // each one sorts: fewer than for means

/// splitmix64 (S. Vigna): small, and the same on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  size_t below(size_t n) {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    x ^= x >> 31;
    // The bias of the remainder is n / 2^64: nothing at these sizes.
    return static_cast<size_t>(x % n);
  }

 private:
  uint64_t state_;
};

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

Interval middle_95(std::vector<double>& draws) {
  return {quantile(draws, 0.025), quantile(draws, 0.975)};
}

}  // namespace

Interval wilson_interval(uint64_t right, uint64_t n) {
  if (n == 0) return {0, 1};
  const double count = static_cast<double>(n);
  const double share = static_cast<double>(right) / count;
  const double z2 = kZ95 * kZ95;
  const double centre = share + z2 / (2 * count);
  const double spread = kZ95 * std::sqrt(share * (1 - share) / count + z2 / (4 * count * count));
  const double scale = 1 + z2 / count;
  return {std::max(0.0, (centre - spread) / scale), std::min(1.0, (centre + spread) / scale)};
}

double mcnemar_p_value(uint64_t only_first, uint64_t only_second) {
  const auto n = static_cast<double>(only_first + only_second);
  double tail = 0;
  for (uint64_t k = 0; k <= std::min(only_first, only_second); ++k) {
    tail += std::exp(log_choose(n, static_cast<double>(k)) - n * std::log(2.0));
  }
  return std::min(1.0, 2 * tail);
}

Interval paired_difference_interval(uint64_t only_first, uint64_t only_second, uint64_t n) {
  const double count = static_cast<double>(n) + 2;
  const double first = (static_cast<double>(only_first) + 1) / count;
  const double second = (static_cast<double>(only_second) + 1) / count;
  const double difference = first - second;
  const double spread = kZ95 * std::sqrt((first + second - difference * difference) / count);
  return {std::max(-1.0, difference - spread), std::min(1.0, difference + spread)};
}

double quantile(std::span<double> values, double q) {
  TANDEM_CHECK(!values.empty());
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  std::nth_element(values.begin(), values.begin() + below, values.end());
  const double low = values[below];
  if (below + 1 == values.size()) return low;
  const double high = *std::min_element(values.begin() + below + 1, values.end());
  return low + (place - static_cast<double>(below)) * (high - low);
}

BlockBootstrap::BlockBootstrap(size_t n_values, const BootstrapOptions& options)
    : n_values_(n_values), options_(options) {
  block_ = options.block != 0 ? options.block : n_values / kWantedBlocks;
  block_ = std::clamp<size_t>(block_, 1, options.block != 0 ? options.block : kMaxBlock);
  n_blocks_ = (n_values + block_ - 1) / block_;
}

size_t BlockBootstrap::size_of(size_t b) const { return std::min(block_, n_values_ - b * block_); }

Measured BlockBootstrap::mean(std::span<const double> values, const Function& f) const {
  TANDEM_CHECK(values.size() == n_values_);
  if (values.empty()) return {};
  std::vector<double> sums(n_blocks_);
  double total = 0;
  for (size_t b = 0; b < n_blocks_; ++b) {
    for (const double v : values.subspan(b * block_, size_of(b))) sums[b] += v;
    total += sums[b];
  }
  const auto count = static_cast<double>(n_values_);
  const double mean = total / count;
  double squares = 0;
  for (size_t b = 0; b < n_blocks_; ++b) {
    const double excess = sums[b] - mean * static_cast<double>(size_of(b));
    squares += excess * excess;
  }
  const auto blocks = static_cast<double>(n_blocks_);
  double error = n_blocks_ < 2 ? 0 : std::sqrt(squares * blocks / (blocks - 1)) / count;

  Random random(options_.seed);
  std::vector<double> draws(options_.n_resamples);
  for (double& draw : draws) {
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < n_blocks_; ++i) {
      const size_t b = random.below(n_blocks_);
      sum += sums[b];
      n += size_of(b);
    }
    draw = sum / static_cast<double>(n);
  }
  Measured out{mean, error, middle_95(draws)};
  if (!f) return out;
  // The functions in use are monotone, so the interval's ends map to the interval's ends.
  const double step = std::max(error * 1e-3, 1e-12);
  const double slope = (f(mean + step) - f(mean - step)) / (2 * step);
  const double a = f(out.interval.low), b = f(out.interval.high);
  return {f(mean), std::abs(slope) * error, {std::min(a, b), std::max(a, b)}};
}

Measured BlockBootstrap::quantile(std::span<const double> values, double q) const {
  TANDEM_CHECK(values.size() == n_values_);
  if (values.empty()) return {};
  std::vector<double> drawn(values.begin(), values.end());
  Measured out{tandem::quantile(drawn, q), 0, {}};
  Random random(options_.seed);
  std::vector<double> draws(std::min(options_.n_resamples, kQuantileResamples));
  for (double& draw : draws) {
    drawn.clear();
    for (size_t i = 0; i < n_blocks_; ++i) {
      const size_t b = random.below(n_blocks_);
      const auto block = values.subspan(b * block_, size_of(b));
      drawn.insert(drawn.end(), block.begin(), block.end());
    }
    draw = tandem::quantile(drawn, q);
  }
  double sum = 0, squares = 0;
  for (const double draw : draws) sum += draw;
  const double centre = sum / static_cast<double>(draws.size());
  for (const double draw : draws) squares += (draw - centre) * (draw - centre);
  if (draws.size() > 1) {
    out.standard_error = std::sqrt(squares / static_cast<double>(draws.size() - 1));
  }
  out.interval = middle_95(draws);
  return out;
}

}  // namespace tandem
