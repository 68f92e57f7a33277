#pragma once

#include <span>
#include <vector>

#include "base/token_id.h"

namespace tandem {

/// The natural logarithm of the sum of exp(logit), in double precision.
double log_sum_exp(std::span<const float> logits);

/// A probability distribution over the vocabulary: of all tokens, or of the likely ones and, as one
/// lump, the rest. Does not own what it views.
struct Distribution {
  std::span<const TokenId> ids;       ///< rising; empty: values are of all tokens, by id
  std::span<const float> values;      ///< logarithm of the probability plus `offset`
  double offset = 0;                  ///< for logits their log_sum_exp
  double tail = 0;                    ///< probability of all tokens that are not in `ids`
  TokenId top = -1;                   ///< the most likely token, the lowest id among equals
  double target_log_probability = 0;  ///< of the token that the text goes on with
};

/// The distribution that `logits` (vocabulary) give; views them.
Distribution distribution_of(std::span<const float> logits, TokenId target);

/// KL(p || q) in nats, q given by all its logits and their log_sum_exp. The lump of p is compared
/// with the same tokens' lump of q, which can only make the result smaller.
double kl_divergence(const Distribution& p, std::span<const float> logits, double log_sum);

}  // namespace tandem
