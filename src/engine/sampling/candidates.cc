// Narrowing the vocabulary to the tokens that may be drawn, and drawing one.

#include "engine/sampling/candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/sampling/portable_exp.h"

namespace tandem {
namespace {

constexpr size_t kSmallestBuffer = 1024;  // candidates gathered before the first cut to top_k
constexpr size_t kFirstChunk = 256;       // candidates sorted at first by keep_prefix

bool more_likely(const Candidate& a, const Candidate& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

auto nth(Candidates& candidates, size_t n) {
  return candidates.begin() + static_cast<ptrdiff_t>(n);
}

void cut_to(Candidates& candidates, size_t n) {
  candidates.erase(nth(candidates, n), candidates.end());
}

void keep_most_likely(Candidates& candidates, size_t n) {
  if (candidates.size() <= n) return;
  std::nth_element(candidates.begin(), nth(candidates, n - 1), candidates.end(), more_likely);
  cut_to(candidates, n);
}

void collect_all(std::span<const float> logits, Candidates& out) {
  for (size_t id = 0; id < logits.size(); ++id) {
    if (logits[id] == -std::numeric_limits<float>::infinity()) continue;
    out.push_back({static_cast<TokenId>(id), logits[id], 0});
  }
}

double total_weight(const Candidates& candidates) {
  double total = 0;
  for (const Candidate& c : candidates) total += c.weight;
  return total;
}

float max_logit(const Candidates& candidates) {
  return std::min_element(candidates.begin(), candidates.end(), more_likely)->logit;
}

/// Keeps the shortest prefix, in the order of `before`, that holds `share` of the total weight.
/// Sorts in growing chunks: usually few of 150,000 tokens are needed. The list ends up sorted.
template <class Before>
void keep_prefix(Candidates& candidates, double share, Before before) {
  const double target = share * total_weight(candidates);
  double sum = 0;
  size_t chunk = kFirstChunk;
  for (size_t start = 0; start < candidates.size(); chunk *= 2) {
    const size_t end = std::min(candidates.size(), start + chunk);
    if (end < candidates.size()) {
      std::nth_element(nth(candidates, start), nth(candidates, end), candidates.end(), before);
    }
    std::sort(nth(candidates, start), nth(candidates, end), before);
    for (; start < end; ++start) {
      sum += candidates[start].weight;
      if (sum >= target) return cut_to(candidates, start + 1);
    }
  }
}

}  // namespace

size_t candidate_capacity(size_t n_vocab, int32_t top_k) {
  if (top_k == 0) return n_vocab;
  return std::min(n_vocab, std::max(kSmallestBuffer, size_t{2} * static_cast<size_t>(top_k)));
}

// HOT: sampler_bench BM_Default. Logits at or below the k-th best so far are skipped; an equal one
// that comes later has the higher id and would lose the tie.
void collect_candidates(std::span<const float> logits, int32_t top_k, Candidates& out) {
  out.clear();
  if (top_k == 0) return collect_all(logits, out);
  const size_t capacity = candidate_capacity(logits.size(), top_k);
  const auto k = static_cast<size_t>(top_k);
  float threshold = -std::numeric_limits<float>::infinity();
  for (size_t id = 0; id < logits.size(); ++id) {
    if (!(logits[id] > threshold)) continue;
    if (out.size() == capacity) {
      keep_most_likely(out, k);
      threshold = out[k - 1].logit;
      if (!(logits[id] > threshold)) continue;
    }
    out.push_back({static_cast<TokenId>(id), logits[id], 0});
  }
  keep_most_likely(out, k);
  std::sort(out.begin(), out.end(), more_likely);
}

void set_weights(Candidates& candidates, float temperature) {
  const double max = max_logit(candidates);
  for (Candidate& c : candidates) c.weight = portable_exp((c.logit - max) / temperature);
}

// The distance of a token's surprise -log p from the entropy H needs no logarithm of the total Z:
// with x = logit - max, -log p - H = (log Z - x) - (log Z - E[x]) = E[x] - x.
void keep_typical(Candidates& candidates, float p) {
  const double max = max_logit(candidates);
  double expected = 0;
  for (const Candidate& c : candidates) expected += c.weight * (c.logit - max);
  expected /= total_weight(candidates);
  const auto distance = [&](const Candidate& c) { return std::fabs(expected - (c.logit - max)); };
  keep_prefix(candidates, p, [&](const Candidate& a, const Candidate& b) {
    const double of_a = distance(a), of_b = distance(b);
    return of_a < of_b || (of_a == of_b && a.id < b.id);
  });
  std::sort(candidates.begin(), candidates.end(), more_likely);
}

void keep_top_p(Candidates& candidates, float p) { keep_prefix(candidates, p, more_likely); }

void keep_min_p(Candidates& candidates, float min_p) {
  double largest = 0;
  for (const Candidate& c : candidates) largest = std::max(largest, c.weight);
  const double limit = min_p * largest;
  std::erase_if(candidates, [&](const Candidate& c) { return c.weight < limit; });
}

void drop_top_choices(Candidates& candidates, float threshold) {
  const double limit = threshold * total_weight(candidates);
  const Candidate* least = nullptr;
  for (const Candidate& c : candidates) {
    if (c.weight >= limit && (least == nullptr || more_likely(*least, c))) least = &c;
  }
  if (least == nullptr) return;
  const Candidate kept = *least;
  std::erase_if(candidates, [&](const Candidate& c) { return more_likely(c, kept); });
}

void to_probabilities(Candidates& candidates) {
  const double total = total_weight(candidates);
  for (Candidate& c : candidates) c.weight /= total;
}

const Candidate& pick(const Candidates& candidates, double uniform) {
  const double target = uniform * total_weight(candidates);
  double sum = 0;
  const Candidate* last_possible = &candidates.front();
  for (const Candidate& c : candidates) {
    if (c.weight > 0) last_possible = &c;
    sum += c.weight;
    if (sum > target) return c;
  }
  return *last_possible;
}

}  // namespace tandem
