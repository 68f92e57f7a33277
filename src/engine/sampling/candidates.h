#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/token_id.h"

namespace tandem {

/// A token that may still be chosen.
struct Candidate {
  TokenId id;
  float logit;
  /// Relative likelihood, 1 for the most likely token; after to_probabilities a probability.
  double weight;
};

/// The candidates of one step, in order of id or with the most likely first (ties: lower id first).
/// The functions below work in place, never grow the list beyond the capacity that
/// candidate_capacity asked for, and leave at least one candidate of a list that had one. Their
/// results depend on the logits alone, not on the standard library's sorting.
using Candidates = std::vector<Candidate>;

/// What a Candidates must have reserved for collect_candidates.
size_t candidate_capacity(size_t n_vocab, int32_t top_k);

/// Fills `out` with the `top_k` largest logits, most likely first; 0 takes all in order of id.
/// Minus infinity is never a candidate. One pass and partial selection: linear in the vocabulary.
void collect_candidates(std::span<const float> logits, int32_t top_k, Candidates& out);

/// Sets each weight to exp((logit - max) / temperature); max is the largest logit of the list.
void set_weights(Candidates& candidates, float temperature);

/// Locally typical sampling with mass p (Meister et al. 2022). Needs weights at temperature 1.
void keep_typical(Candidates& candidates, float p);
/// The most likely candidates whose weights reach p of the total. Needs weights.
void keep_top_p(Candidates& candidates, float p);
/// Candidates of at least min_p times the largest weight. Needs weights.
void keep_min_p(Candidates& candidates, float min_p);
/// XTC: drops all candidates of probability `threshold` and more but the least likely of them.
/// Needs weights.
void drop_top_choices(Candidates& candidates, float threshold);

/// Divides the weights by their sum. Needs weights.
void to_probabilities(Candidates& candidates);
/// The candidate at `uniform` (0 <= uniform < 1) of the summed probabilities.
const Candidate& pick(const Candidates& candidates, double uniform);

}  // namespace tandem
