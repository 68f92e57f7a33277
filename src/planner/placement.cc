// Puts a chain of nodes on devices at the least cost.

#include "planner/placement.h"

#include <algorithm>
#include <limits>

namespace tandem {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Weighted costs of one problem.
class Scalar {
 public:
  Scalar(const PlacementProblem& p, const Weighting& w) : p_(p), w_(w), byte_price_(p.n_devices) {}

  /// A price on every byte of memory that a device holds.
  void set_byte_price(uint32_t device, double price) { byte_price_[device] = price; }

  double node(uint32_t i, uint32_t d) const {
    if (p_.allowed[p_.at(i, d)] == 0) return kInfinite;
    return w_(p_.inner[p_.at(i, d)]) + byte_price_[d] * static_cast<double>(p_.memory[i]);
  }
  double open(uint32_t i, uint32_t d) const { return w_(p_.launch[d]) + w_(p_.entry[p_.at(i, d)]); }
  double close(uint32_t i, uint32_t d) const { return w_(p_.exit[p_.at(i, d)]); }
  /// Ends a segment on `from` after node i - 1 and begins one on `to` with node i.
  double cross(uint32_t i, uint32_t from, uint32_t to) const {
    const double per_byte = w_(p_.copy_out[from]) + w_(p_.copy_in[to]);
    return close(i - 1, from) + per_byte * static_cast<double>(p_.live_bytes[i]) + open(i, to);
  }

 private:
  const PlacementProblem& p_;
  Weighting w_;
  std::vector<double> byte_price_;
};

/// best[i][d]: the cheapest way to run nodes 0..i with i on d, its segment still open.
struct Forward {
  std::vector<double> best;
  std::vector<uint8_t> from;  ///< device of node i - 1
};

Forward run_forward(const PlacementProblem& p, const Scalar& cost) {
  Forward out{std::vector<double>(size_t{p.n_nodes} * p.n_devices, kInfinite),
              std::vector<uint8_t>(size_t{p.n_nodes} * p.n_devices, 0)};
  for (uint32_t d = 0; d < p.n_devices; ++d) out.best[d] = cost.node(0, d) + cost.open(0, d);
  for (uint32_t i = 1; i < p.n_nodes; ++i) {
    for (uint32_t d = 0; d < p.n_devices; ++d) {
      const double node = cost.node(i, d);
      if (node == kInfinite) continue;
      double& best = out.best[p.at(i, d)];
      for (uint32_t e = 0; e < p.n_devices; ++e) {
        const double before = out.best[p.at(i - 1, e)];
        if (before == kInfinite) continue;
        const double total = before + node + (e == d ? 0 : cost.cross(i, e, d));
        // Staying wins a tie: fewer segments.
        if (total > best || (total == best && e != d)) continue;
        best = total;
        out.from[p.at(i, d)] = static_cast<uint8_t>(e);
      }
    }
  }
  return out;
}

/// rest[i][d]: the cheapest way from node i on d, already paid, to the end.
std::vector<double> run_backward(const PlacementProblem& p, const Scalar& cost) {
  std::vector<double> rest(size_t{p.n_nodes} * p.n_devices, kInfinite);
  const uint32_t last = p.n_nodes - 1;
  for (uint32_t d = 0; d < p.n_devices; ++d) rest[p.at(last, d)] = cost.close(last, d);
  for (uint32_t i = last; i > 0; --i) {
    for (uint32_t d = 0; d < p.n_devices; ++d) {
      for (uint32_t e = 0; e < p.n_devices; ++e) {
        const double node = cost.node(i, e);
        if (node == kInfinite) continue;
        const double total = node + (e == d ? 0 : cost.cross(i, d, e)) + rest[p.at(i, e)];
        rest[p.at(i - 1, d)] = std::min(rest[p.at(i - 1, d)], total);
      }
    }
  }
  return rest;
}

std::optional<Placement> place(const PlacementProblem& p, const Scalar& cost) {
  if (p.n_nodes == 0) return Placement{};
  const Forward forward = run_forward(p, cost);
  const uint32_t last = p.n_nodes - 1;
  double best = kInfinite;
  uint8_t device = 0;
  for (uint32_t d = 0; d < p.n_devices; ++d) {
    const double total = forward.best[p.at(last, d)] + cost.close(last, d);
    if (total < best) {
      best = total;
      device = static_cast<uint8_t>(d);
    }
  }
  if (best == kInfinite) return std::nullopt;
  Placement out;
  out.device.resize(p.n_nodes);
  for (uint32_t i = p.n_nodes; i-- > 0;) {
    out.device[i] = device;
    device = forward.from[p.at(i, device)];
  }
  out.cost = cost_of(p, out.device);
  return out;
}

uint64_t memory_on(const PlacementProblem& p, const Placement& placement, uint32_t device) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < p.n_nodes; ++i) {
    if (placement.device[i] == device) total += p.memory[i];
  }
  return total;
}

bool fits(const PlacementProblem& p, const Placement& placement, uint32_t device) {
  return p.memory_limit[device] == 0 || memory_on(p, placement, device) <= p.memory_limit[device];
}

constexpr int kBisections = 40;
constexpr int kRounds = 8;

/// Raises the price of a byte on `device` until its nodes fit; keeps the cheapest that fit.
std::optional<Placement> price_until_it_fits(const PlacementProblem& p, Scalar& cost,
                                             uint32_t device, double scale) {
  double low = 0, high = scale;
  std::optional<Placement> found;
  for (int i = 0; i < kBisections && !found; ++i, high *= 4) {
    cost.set_byte_price(device, high);
    const auto tried = place(p, cost);
    if (tried && fits(p, *tried, device)) found = tried;
  }
  for (int i = 0; i < kBisections && found; ++i) {
    const double middle = (low + high) / 2;
    cost.set_byte_price(device, middle);
    const auto tried = place(p, cost);
    const bool good = tried && fits(p, *tried, device);
    (good ? high : low) = middle;
    if (good) found = tried;
  }
  cost.set_byte_price(device, high);
  return found;
}

/// The last resort: nothing that takes memory on a device with a limit.
std::optional<Placement> cheapest_without_limited(PlacementProblem p, const Weighting& weighting) {
  for (uint32_t i = 0; i < p.n_nodes; ++i) {
    for (uint32_t d = 0; d < p.n_devices; ++d) {
      if (p.memory_limit[d] != 0 && p.memory[i] != 0) p.allowed[p.at(i, d)] = 0;
    }
  }
  return cheapest_placement(p, weighting);
}

}  // namespace

PlacementProblem::PlacementProblem(uint32_t nodes, uint32_t devices)
    : n_nodes(nodes),
      n_devices(devices),
      allowed(size_t{nodes} * devices, 1),
      inner(size_t{nodes} * devices),
      entry(size_t{nodes} * devices),
      exit(size_t{nodes} * devices),
      launch(devices),
      copy_out(devices),
      copy_in(devices),
      live_bytes(nodes, 0),
      memory(nodes, 0),
      memory_limit(devices, 0) {}

Cost cost_of(const PlacementProblem& p, const std::vector<uint8_t>& device) {
  Cost out;
  for (uint32_t i = 0; i < p.n_nodes; ++i) {
    const uint32_t d = device[i];
    const bool opens = i == 0 || device[i - 1] != d;
    const bool closes = i + 1 == p.n_nodes || device[i + 1] != d;
    if (opens) out += p.launch[d] + p.entry[p.at(i, d)];
    if (opens && i > 0) {
      const Cost per_byte = p.copy_out[device[i - 1]] + p.copy_in[d];
      const double bytes = static_cast<double>(p.live_bytes[i]);
      out += {per_byte.seconds * bytes, per_byte.joules * bytes};
    }
    out += p.inner[p.at(i, d)];
    if (closes) out += p.exit[p.at(i, d)];
  }
  return out;
}

std::optional<Placement> cheapest_placement(const PlacementProblem& problem,
                                            const Weighting& weighting) {
  return place(problem, Scalar(problem, weighting));
}

std::optional<Placement> place_within_memory(const PlacementProblem& p,
                                             const Weighting& weighting) {
  Scalar cost(p, weighting);
  std::optional<Placement> out = place(p, cost);
  if (!out) return out;
  uint64_t all_bytes = 1;
  for (uint64_t bytes : p.memory) all_bytes += bytes;
  const double scale = weighting(out->cost) / static_cast<double>(all_bytes);
  const auto all_fit = [&] {
    for (uint32_t d = 0; d < p.n_devices; ++d) {
      if (!fits(p, *out, d)) return false;
    }
    return true;
  };
  // What one device sheds another may take up, so go round until all are content.
  for (int round = 0; round < kRounds && !all_fit(); ++round) {
    for (uint32_t d = 0; d < p.n_devices; ++d) {
      if (fits(p, *out, d)) continue;
      out = price_until_it_fits(p, cost, d, scale);
      if (!out) return std::nullopt;
    }
  }
  return all_fit() ? out : cheapest_without_limited(p, weighting);
}

std::vector<double> cost_through(const PlacementProblem& p, const Weighting& weighting) {
  if (p.n_nodes == 0) return {};
  const Scalar cost(p, weighting);
  std::vector<double> out = run_forward(p, cost).best;
  const std::vector<double> rest = run_backward(p, cost);
  for (size_t i = 0; i < out.size(); ++i) out[i] += rest[i];
  return out;
}

std::optional<Placement> place_under_power_cap(const PlacementProblem& problem, double watts) {
  const auto within = [&](const Placement& p) {
    return p.cost.joules <= watts * p.cost.seconds * (1 + 1e-12);
  };
  std::optional<Placement> found = place_within_memory(problem, {1, 0});
  if (!found || within(*found)) return found;
  found.reset();
  // More weight on energy moves along the hull from fast to frugal.
  double low = 0, high = 1;
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (low + high) / 2;
    const auto tried = place_within_memory(problem, {1 - middle, middle});
    const bool good = tried && within(*tried);
    (good ? high : low) = middle;
    if (good && (!found || tried->cost.seconds < found->cost.seconds)) found = tried;
  }
  if (!found) {
    found = place_within_memory(problem, {0, 1});
    if (found && !within(*found)) found.reset();
  }
  return found;
}

}  // namespace tandem
