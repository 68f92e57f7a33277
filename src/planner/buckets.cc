#include "planner/buckets.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/check.h"

namespace tandem {
namespace {

constexpr double kWorthABucket = 0.01;

}  // namespace

Chunking::Chunking(std::vector<Bucket> buckets, double base, double cost_per_token)
    : buckets_(std::move(buckets)), base_(base), cost_per_token_(cost_per_token) {
  TANDEM_CHECK(!buckets_.empty());
  const auto per_token = [](const Bucket& b) { return b.cost / b.n_tokens; };
  const auto cheapest = std::min_element(
      buckets_.begin(), buckets_.end(),
      [&](const Bucket& a, const Bucket& b) { return per_token(a) < per_token(b); });
  cheapest_per_token_ = static_cast<size_t>(cheapest - buckets_.begin());
  const uint32_t n_table = 2 * buckets_.back().n_tokens;
  table_.resize(n_table + 1, {0, 0});
  for (uint32_t n = 1; n <= n_table; ++n) {
    Choice best{tail_cost(n), static_cast<uint32_t>(buckets_.size())};
    for (uint32_t b = 0; b < buckets_.size(); ++b) {
      const uint32_t left = n - std::min(n, buckets_[b].n_tokens);
      const double cost = buckets_[b].cost + table_[left].cost;
      if (cost < best.cost) best = {cost, b};
    }
    table_[n] = best;
  }
}

double Chunking::tail_cost(uint32_t n_tokens) const {
  const bool fits = n_tokens <= buckets_.back().n_tokens;
  if (cost_per_token_ <= 0 || !fits) return std::numeric_limits<double>::infinity();
  return base_ + cost_per_token_ * n_tokens;
}

size_t Chunking::next_bucket(uint32_t remaining) const {
  if (remaining < table_.size()) return table_[remaining].bucket;
  return cheapest_per_token_;
}

double Chunking::cost(uint32_t n_tokens) const {
  double out = 0;
  const Bucket& bulk = buckets_[cheapest_per_token_];
  while (n_tokens >= table_.size()) {
    out += bulk.cost;
    n_tokens -= bulk.n_tokens;
  }
  return out + table_[n_tokens].cost;
}

std::vector<Bucket> choose_buckets(std::span<const Bucket> candidates, size_t n_most,
                                   std::span<const uint32_t> prompt_lengths) {
  TANDEM_CHECK(!candidates.empty() && candidates.size() < 16);
  const Chunking all({candidates.begin(), candidates.end()}, 0, 0);
  std::vector<double> best_of_size(candidates.size() + 1, std::numeric_limits<double>::infinity());
  std::vector<uint32_t> set_of_size(candidates.size() + 1, 0);
  for (uint32_t set = 1; set < (1u << candidates.size()); ++set) {
    const size_t size = static_cast<size_t>(std::popcount(set));
    if (size > n_most) continue;
    std::vector<Bucket> chosen;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if ((set >> i & 1) != 0) chosen.push_back(candidates[i]);
    }
    const Chunking chunking(std::move(chosen), 0, 0);
    double mean = 0;
    for (uint32_t n : prompt_lengths) mean += chunking.cost(n) / all.cost(n);
    mean /= static_cast<double>(prompt_lengths.size());
    if (mean < best_of_size[size]) {
      best_of_size[size] = mean;
      set_of_size[size] = set;
    }
  }
  size_t size = 1;
  for (size_t more = 2; more < best_of_size.size(); ++more) {
    if (best_of_size[more] < best_of_size[size] - kWorthABucket) size = more;
  }
  std::vector<Bucket> out;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if ((set_of_size[size] >> i & 1) != 0) out.push_back(candidates[i]);
  }
  return out;
}

}  // namespace tandem
