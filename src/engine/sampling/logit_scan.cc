// The one pass that every sampled token needs: largest logit, and whether all are numbers.

#include "engine/sampling/logit_scan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tandem {
namespace {

// Sixteen independent lanes let the compiler use vectors; the loser was one compare chain a logit.
constexpr size_t kLanes = 16;
constexpr size_t kBlock = 1024;  // multiple of kLanes; the block of the maximum is searched again
constexpr int32_t kExponent = 0x7f800000;  // all ones for NaN and infinity

struct BlockScan {
  float max;
  bool all_finite;
};

int32_t exponent_bits(float x) { return std::bit_cast<int32_t>(x) & kExponent; }

BlockScan scan_block(const float* logits, size_t n) {
  float max[kLanes];
  int32_t largest_exponent[kLanes];
  std::fill_n(max, kLanes, -std::numeric_limits<float>::infinity());
  std::fill_n(largest_exponent, kLanes, 0);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const float x = logits[i + lane];
      max[lane] = x > max[lane] ? x : max[lane];
      largest_exponent[lane] = std::max(largest_exponent[lane], exponent_bits(x));
    }
  }
  for (; i < n; ++i) {
    max[0] = logits[i] > max[0] ? logits[i] : max[0];
    largest_exponent[0] = std::max(largest_exponent[0], exponent_bits(logits[i]));
  }
  return {*std::max_element(max, max + kLanes),
          *std::max_element(largest_exponent, largest_exponent + kLanes) != kExponent};
}

}  // namespace

// HOT: sampler_bench BM_Greedy.
LogitScan scan_logits(std::span<const float> logits) {
  LogitScan scan{-1, -std::numeric_limits<float>::infinity(), true};
  size_t best_block = 0;
  for (size_t start = 0; start < logits.size(); start += kBlock) {
    const BlockScan block =
        scan_block(logits.data() + start, std::min(kBlock, logits.size() - start));
    scan.all_finite &= block.all_finite;
    if (block.max > scan.max) scan.max = block.max, best_block = start;
  }
  if (scan.max == -std::numeric_limits<float>::infinity()) return scan;
  const auto from = logits.begin() + static_cast<ptrdiff_t>(best_block);
  scan.best = static_cast<TokenId>(std::find(from, logits.end(), scan.max) - logits.begin());
  return scan;
}

size_t first_non_finite(std::span<const float> logits) {
  const auto is_bad = [](float x) { return !std::isfinite(x); };
  return std::find_if(logits.begin(), logits.end(), is_bad) - logits.begin();
}

}  // namespace tandem
