// Prunes two of every four weights and fits a scale to the others.

#include "tensor/blocks/q4_24.h"

#include <utility>

#include "tensor/blocks/fit.h"

namespace tandem {
namespace {

struct Pair {
  int first = 0, second = 1;
};

/// The two of largest cost, in rising order; a NaN cost is below every other.
Pair largest_two(const float cost[4]) {
  int best = 0, next = 1;
  if (cost[1] > cost[0]) std::swap(best, next);
  for (int i = 2; i < 4; ++i) {
    if (cost[i] > cost[best]) {
      next = best;
      best = i;
    } else if (cost[i] > cost[next]) {
      next = i;
    }
  }
  return best < next ? Pair{best, next} : Pair{next, best};
}

}  // namespace

void encode(const float* in, const float* importance, BlockQ4_24& out) {
  out = {};
  float kept[BlockQ4_24::kKept];
  for (int quad = 0; quad < 8; ++quad) {
    const float* w = in + 4 * quad;
    float cost[4];
    for (int i = 0; i < 4; ++i) {
      cost[i] = w[i] * w[i] * (importance == nullptr ? 1.0f : importance[4 * quad + i]);
    }
    const Pair pair = largest_two(cost);
    const int places[2] = {pair.first, pair.second};
    for (int j = 0; j < 2; ++j) {
      const int i = 2 * quad + j;
      kept[i] = w[places[j]];
      out.places[i % 4] |= static_cast<uint8_t>(places[j] << (i / 4 * 2));
    }
  }
  int8_t codes[BlockQ4_24::kKept];
  const float scale =
      blocks::fit_scale(kept, BlockQ4_24::kKept, blocks::IntegerCodes{-8, 7}, codes);
  out.d = f32_to_f16(scale);
  for (int i = 0; i < BlockQ4_24::kKept; ++i) {
    out.qs[i % 8] |= static_cast<uint8_t>((codes[i] + 8) << (i / 8 * 4));
  }
}

}  // namespace tandem
