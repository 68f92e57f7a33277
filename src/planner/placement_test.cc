#include "planner/placement.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace tandem {
namespace {

/// Costs of quarters, so that sums are exact and ties happen.
PlacementProblem random_problem(uint32_t n_nodes, uint32_t n_devices, uint32_t seed) {
  std::mt19937 random(seed);
  const auto number = [&](int most) {
    return std::uniform_int_distribution<int>(0, most)(random) / 4.0;
  };
  const auto cost = [&](int most) { return Cost{number(most), number(most)}; };
  PlacementProblem p(n_nodes, n_devices);
  for (uint32_t d = 0; d < n_devices; ++d) {
    p.launch[d] = cost(12);
    p.copy_out[d] = cost(1);
    p.copy_in[d] = cost(1);
  }
  for (uint32_t i = 0; i < n_nodes; ++i) {
    p.live_bytes[i] = random() % 8;
    p.memory[i] = random() % 10;
    for (uint32_t d = 0; d < n_devices; ++d) {
      p.inner[p.at(i, d)] = cost(20);
      p.entry[p.at(i, d)] = cost(4);
      p.exit[p.at(i, d)] = cost(4);
      p.allowed[p.at(i, d)] = d == 0 || random() % 4 != 0;
    }
  }
  return p;
}

bool is_allowed(const PlacementProblem& p, const std::vector<uint8_t>& device) {
  for (uint32_t i = 0; i < p.n_nodes; ++i) {
    if (p.allowed[p.at(i, device[i])] == 0) return false;
  }
  return true;
}

/// Calls `visit` with every allowed placement.
template <class Visit>
void each_placement(const PlacementProblem& p, const Visit& visit) {
  std::vector<uint8_t> device(p.n_nodes, 0);
  for (;;) {
    if (is_allowed(p, device)) visit(device);
    uint32_t i = 0;
    while (i < p.n_nodes && ++device[i] == p.n_devices) device[i++] = 0;
    if (i == p.n_nodes) return;
  }
}

const Weighting kWeightings[] = {{1, 0}, {0, 1}, {0.5, 0.25}};

TEST(CheapestPlacement, EqualsExhaustiveSearch) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const uint32_t n_devices = 1 + seed % 4;
    const PlacementProblem p = random_problem(n_devices == 4 ? 6 : 8, n_devices, seed);
    for (const Weighting& w : kWeightings) {
      double least = std::numeric_limits<double>::infinity();
      each_placement(p, [&](const std::vector<uint8_t>& device) {
        least = std::min(least, w(cost_of(p, device)));
      });
      const auto found = cheapest_placement(p, w);
      ASSERT_TRUE(found);
      EXPECT_TRUE(is_allowed(p, found->device));
      EXPECT_DOUBLE_EQ(w(found->cost), least) << "seed " << seed;
      EXPECT_DOUBLE_EQ(w(cost_of(p, found->device)), least);
    }
  }
}

TEST(CostThrough, IsTheCheapestPlacementWithTheNodeThere) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const PlacementProblem p = random_problem(6, 3, seed);
    for (const Weighting& w : kWeightings) {
      std::vector<double> least(size_t{p.n_nodes} * p.n_devices,
                                std::numeric_limits<double>::infinity());
      each_placement(p, [&](const std::vector<uint8_t>& device) {
        const double cost = w(cost_of(p, device));
        for (uint32_t i = 0; i < p.n_nodes; ++i) {
          double& entry = least[p.at(i, device[i])];
          entry = std::min(entry, cost);
        }
      });
      const auto through = cost_through(p, w);
      for (size_t i = 0; i < least.size(); ++i) EXPECT_DOUBLE_EQ(through[i], least[i]);
    }
  }
}

TEST(CheapestPlacement, SaysWhenANodeIsAllowedNowhere) {
  PlacementProblem p(2, 2);
  p.allowed[p.at(1, 0)] = p.allowed[p.at(1, 1)] = 0;
  EXPECT_FALSE(cheapest_placement(p, {}));
}

TEST(CheapestPlacement, PrefersFewSegmentsThenTheFirstDeviceAtEqualCost) {
  PlacementProblem p(4, 2);
  p.allowed[p.at(1, 0)] = 0;
  EXPECT_EQ(cheapest_placement(p, {})->device, (std::vector<uint8_t>{1, 1, 0, 0}));
  EXPECT_EQ(cheapest_placement(PlacementProblem(3, 2), {})->device,
            (std::vector<uint8_t>{0, 0, 0}));
}

TEST(PlaceWithinMemory, FitsAndStaysNearTheBestThatFits) {
  double worst = 1;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    PlacementProblem p = random_problem(8, 3, seed);
    p.memory_limit[1] = 12;
    p.memory_limit[2] = 8;
    double least = std::numeric_limits<double>::infinity();
    each_placement(p, [&](const std::vector<uint8_t>& device) {
      uint64_t held[3] = {};
      for (uint32_t i = 0; i < p.n_nodes; ++i) held[device[i]] += p.memory[i];
      if (held[1] <= 12 && held[2] <= 8) least = std::min(least, cost_of(p, device).seconds);
    });
    const auto found = place_within_memory(p, {});
    ASSERT_TRUE(found) << "seed " << seed;
    uint64_t held[3] = {};
    for (uint32_t i = 0; i < p.n_nodes; ++i) held[found->device[i]] += p.memory[i];
    EXPECT_LE(held[1], 12u);
    EXPECT_LE(held[2], 8u);
    EXPECT_GE(found->cost.seconds, least - 1e-9);
    worst = std::max(worst, found->cost.seconds / least);
  }
  // With eight nodes of very different size a price per byte leaves gaps; a third is typical.
  EXPECT_LT(worst, 1.6);
}

TEST(PlaceUnderPowerCap, TakesTheFastestThatDrawsNoMore) {
  PlacementProblem p(1, 3);
  p.inner = {{1, 10}, {2, 8}, {5, 5}};  // 10 W, 4 W, 1 W
  EXPECT_EQ(place_under_power_cap(p, 20)->device[0], 0);
  EXPECT_EQ(place_under_power_cap(p, 4)->device[0], 1);
  EXPECT_EQ(place_under_power_cap(p, 3)->device[0], 2);
  EXPECT_FALSE(place_under_power_cap(p, 0.5));
}

}  // namespace
}  // namespace tandem
