#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tandem {

/// What a choice costs; adds up along a plan.
struct Cost {
  double seconds = 0;
  double joules = 0;

  Cost operator+(const Cost& o) const { return {seconds + o.seconds, joules + o.joules}; }
  Cost& operator+=(const Cost& o) { return *this = *this + o; }
};

/// A chain of nodes to be put on devices, as numbers only. A run of nodes on one device is a
/// segment; its cost is
///   launch[d] + entry[first][d] + sum inner[i][d] + exit[last][d]
/// and between two segments the values alive at the boundary move:
///   live_bytes[first of the second] * (copy_out[d] + copy_in[e])
struct PlacementProblem {
  uint32_t n_nodes = 0;
  uint32_t n_devices = 0;
  std::vector<uint8_t> allowed;        ///< (n_nodes, n_devices)
  std::vector<Cost> inner;             ///< (n_nodes, n_devices)
  std::vector<Cost> entry;             ///< (n_nodes, n_devices)
  std::vector<Cost> exit;              ///< (n_nodes, n_devices)
  std::vector<Cost> launch;            ///< (n_devices)
  std::vector<Cost> copy_out;          ///< (n_devices), per byte; zero where memory is shared
  std::vector<Cost> copy_in;           ///< (n_devices), per byte
  std::vector<uint64_t> live_bytes;    ///< (n_nodes): alive between node i - 1 and node i
  std::vector<uint64_t> memory;        ///< (n_nodes): bytes that a device must hold to run the node
  std::vector<uint64_t> memory_limit;  ///< (n_devices); 0: no limit

  explicit PlacementProblem(uint32_t nodes = 0, uint32_t devices = 0);
  size_t at(uint32_t node, uint32_t device) const { return size_t{node} * n_devices + device; }
};

/// What is minimised: the weighted sum of seconds and joules.
struct Weighting {
  double seconds = 1;
  double joules = 0;

  double operator()(const Cost& c) const { return seconds * c.seconds + joules * c.joules; }
};

struct Placement {
  std::vector<uint8_t> device;  ///< (n_nodes)
  Cost cost;
};

/// The cost of a given placement, by the formula above.
Cost cost_of(const PlacementProblem& problem, const std::vector<uint8_t>& device);

/// The cheapest placement without regard to memory limits: dynamic programming over nodes and
/// devices, n_nodes * n_devices^2 steps. At equal cost a segment goes on, and the device that
/// comes first is taken. Nothing when some node is allowed nowhere.
std::optional<Placement> cheapest_placement(const PlacementProblem& problem,
                                            const Weighting& weighting);

/// As cheapest_placement, within every memory limit: bytes get a price that rises until they fit.
/// Cheapest when no limit binds; else feasible, and not proven cheapest. Nothing when none was
/// found.
std::optional<Placement> place_within_memory(const PlacementProblem& problem,
                                             const Weighting& weighting);

/// For each node and device the weighted cost of the cheapest placement that has the node there;
/// infinite where it is not allowed. (n_nodes, n_devices)
std::vector<double> cost_through(const PlacementProblem& problem, const Weighting& weighting);

/// The placement with the least seconds whose average power, joules over seconds, is at most
/// `watts`; among those on the convex hull of time and energy. Nothing when the most frugal
/// placement still draws more.
std::optional<Placement> place_under_power_cap(const PlacementProblem& problem, double watts);

}  // namespace tandem
