// Against trying everything, on instances small enough for that.

#include "quantize/allocation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tandem {
namespace {

std::vector<TensorCosts> random_tensors(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<TensorCosts> out(6);
  for (TensorCosts& t : out) {
    const uint64_t n = 1000 + random() % 9000;
    const double sensitivity = 1e-4 * (1 + random() % 100);
    // Losses fall fourfold for each bit, roughly.
    for (const int bits : {2, 4, 6, 8}) {
      const double noise = 0.8 + 0.4 * (random() % 100) / 100.0;
      t.push_back({n * bits / 8, sensitivity * std::pow(0.25, bits) * noise});
    }
  }
  return out;
}

template <class Visit>
void for_each_allocation(const std::vector<TensorCosts>& tensors, const Visit& visit) {
  Allocation choice(tensors.size());
  for (size_t code = 0; code < 4096; ++code) {
    for (size_t t = 0, rest = code; t < 6; ++t, rest /= 4) choice[t] = rest % 4;
    visit(choice);
  }
}

TEST(Allocation, WithinABudgetIsNearTheBest) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const auto tensors = random_tensors(seed);
    const uint64_t largest = bytes_of(tensors, Allocation(6, 3));
    for (const double share : {0.3, 0.5, 0.7, 0.9}) {
      const auto budget = static_cast<uint64_t>(share * static_cast<double>(largest));
      double best = 1e9;
      for_each_allocation(tensors, [&](const Allocation& a) {
        if (bytes_of(tensors, a) <= budget) best = std::min(best, loss_of(tensors, a));
      });
      const Allocation found = allocate_within(tensors, budget);
      EXPECT_LE(bytes_of(tensors, found), budget);
      EXPECT_LE(loss_of(tensors, found), 1.35 * best) << seed << " " << share;
    }
  }
}

TEST(Allocation, BelowALossIsNearTheSmallest) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const auto tensors = random_tensors(seed);
    const double bound = 0.1 * loss_of(tensors, Allocation(6, 0));
    uint64_t best = ~uint64_t{0};
    for_each_allocation(tensors, [&](const Allocation& a) {
      if (loss_of(tensors, a) <= bound) best = std::min(best, bytes_of(tensors, a));
    });
    const Allocation found = allocate_below(tensors, bound);
    EXPECT_LE(loss_of(tensors, found), bound);
    EXPECT_LE(static_cast<double>(bytes_of(tensors, found)), 1.2 * static_cast<double>(best))
        << seed;
  }
}

TEST(Allocation, ImpossibleBoundsGiveTheNearest) {
  const auto tensors = random_tensors(1);
  EXPECT_EQ(allocate_within(tensors, 1), Allocation(6, 0));
  EXPECT_EQ(allocate_below(tensors, 0), Allocation(6, 3));
  EXPECT_EQ(allocate_within(tensors, 1 << 30), Allocation(6, 3));
}

}  // namespace
}  // namespace tandem
