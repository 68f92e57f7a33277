#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace tandem {

/// A size that a prompt's chunks may have, and what one costs at that size.
struct Bucket {
  uint32_t n_tokens;
  double cost;  ///< of a whole bucket, padding or not: seconds, or any other objective
};

/// How a prompt is cut. Every chunk but the last fills its bucket.
class Chunking {
 public:
  Chunking() = default;
  /// Buckets by rising size, at least one. `cost_per_token`, when positive, is an alternative that
  /// needs no padding, for the end of a prompt (the processor): it costs `base` + that for each
  /// token.
  Chunking(std::vector<Bucket> buckets, double base, double cost_per_token);

  /// The bucket that the next chunk of a prompt runs in, by cost of the whole remainder; the index
  /// after the last bucket is the unpadded alternative.
  size_t next_bucket(uint32_t remaining) const;
  /// Cost of a prompt cut this way.
  double cost(uint32_t n_tokens) const;

  const std::vector<Bucket>& buckets() const { return buckets_; }

 private:
  struct Choice {
    double cost;
    uint32_t bucket;
  };
  double tail_cost(uint32_t n_tokens) const;

  std::vector<Bucket> buckets_;
  double base_ = 0;
  double cost_per_token_ = 0;
  size_t cheapest_per_token_ = 0;
  std::vector<Choice> table_;  ///< by remaining tokens, up to twice the largest bucket
};

/// The at most `n_most` of the candidates that make the given prompt lengths cheapest together
/// (mean of each length's cost over its cost with all candidates). Fewer win when more gain less
/// than 1 %: each bucket is a graph to compile and hold.
std::vector<Bucket> choose_buckets(std::span<const Bucket> candidates, size_t n_most,
                                   std::span<const uint32_t> prompt_lengths);

}  // namespace tandem
