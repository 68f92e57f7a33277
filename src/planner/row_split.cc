// Shares the rows of decode linears between the host and another device.

#include "planner/row_split.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/check.h"
#include "graph/row_slice.h"
#include "planner/schedule.h"

namespace tandem {
namespace {

/// Rows of a share are a multiple of this: whole tiles of weights, and whole cache lines of output.
constexpr uint32_t kShareRows = 256;
/// Shares that are tried between none and all.
constexpr uint32_t kShares = 64;
/// A step must become this much shorter: what is gained stands beside a launch that may be late.
constexpr double kLeastGain = 0.005;

class RowSplitter {
 public:
  RowSplitter(const SplitRequest& request, PhasePlan& plan) : r_(request), plan_(plan) {
    for (const Device* device : r_.devices) facts_.push_back(device->describe());
  }

  void run() {
    for (const uint32_t node : linears_by_size()) {
      const auto kind = kind_of(node);
      if (useless_.contains(kind)) continue;
      if (!split(node)) useless_.insert(kind);  // layers repeat: the others would not gain either
    }
  }

 private:
  using Kind = std::tuple<DType, uint32_t, uint32_t, std::string>;

  struct Found {
    RowSplit split;
    Estimate estimate;
  };

  const Weight& weight_of(uint32_t node) const {
    const auto& a = std::get<LinearAttributes>(r_.graph.nodes[node].attributes);
    return r_.graph.weights[a.weight];
  }

  Kind kind_of(uint32_t node) const {
    const Weight& w = weight_of(node);
    return {w.type, w.rows, w.columns, plan_.segments[segment_of(node)].device};
  }

  std::vector<uint32_t> linears_by_size() const {
    std::vector<uint32_t> out;
    for (uint32_t i = 0; i < r_.graph.nodes.size(); ++i) {
      const auto* a = std::get_if<LinearAttributes>(&r_.graph.nodes[i].attributes);
      if (a == nullptr || r_.graph.weights[a->weight].nested) continue;
      if (std::ranges::find(plan_.resident, a->weight) != plan_.resident.end()) continue;
      out.push_back(i);
    }
    std::ranges::stable_sort(out, [&](uint32_t a, uint32_t b) {
      return weight_of(a).bytes.size() > weight_of(b).bytes.size();
    });
    return out;
  }

  size_t segment_of(uint32_t node) const {
    for (size_t s = 0; s < plan_.segments.size(); ++s) {
      const NodeRange& nodes = plan_.segments[s].nodes;
      if (node >= nodes.first && node < nodes.first + nodes.count) return s;
    }
    TANDEM_CHECK(false);
  }

  size_t device_of(const std::string& name) const {
    const auto found = std::ranges::find(facts_, name, &Capabilities::name);
    TANDEM_CHECK(found != facts_.end());
    return static_cast<size_t>(found - facts_.begin());
  }

  /// The best share of a node for the devices `home` and `other`.
  Found best_share(uint32_t node, size_t home, size_t other) const {
    const uint32_t n_rows = weight_of(node).rows;
    Found best{{}, {.seconds = std::numeric_limits<double>::infinity()}};
    uint32_t last = 0;
    for (uint32_t i = 1; i < kShares; ++i) {
      const auto first_row =
          static_cast<uint32_t>(uint64_t{n_rows} * i / kShares / kShareRows * kShareRows);
      if (first_row == last || first_row == 0) continue;
      last = first_row;
      const Estimate both = estimate(node, home, other, first_row);
      if (both.seconds < best.estimate.seconds) best = {{facts_[other].name, first_row}, both};
    }
    return best;
  }

  /// Both shares at once, on a memory that they share.
  Estimate estimate(uint32_t node, size_t home, size_t other, uint32_t first_row) const {
    const Node& linear = r_.graph.nodes[node];
    const uint32_t n_rows = weight_of(node).rows;
    const Graph shares[] = {slice_linear(r_.graph, linear, 0, first_row),
                            slice_linear(r_.graph, linear, first_row, n_rows - first_row)};
    const size_t devices[] = {home, other};
    std::vector<Task> tasks;
    Estimate out;
    for (size_t i = 0; i < 2; ++i) {
      const StepLoad load{.n_tokens = r_.load.n_tokens, .context = r_.load.context};
      const Device& device = *r_.devices[devices[i]];
      if (device.supports(shares[i], shares[i].nodes[0], {1, 1})) {
        out.seconds = std::numeric_limits<double>::infinity();
        return out;
      }
      const Estimate one = device.estimate(shares[i], {0, 1}, load);
      tasks.push_back(
          {.device = i, .seconds = one.seconds, .bytes = static_cast<double>(one.bytes)});
      out += one;
    }
    out.seconds = makespan(simulate(tasks, 2, shared_memory_bandwidth(facts_)));
    return out;
  }

  bool split(uint32_t node) {
    const size_t s = segment_of(node);
    const size_t home = device_of(plan_.segments[s].device);
    for (size_t other = 0; other < facts_.size(); ++other) {
      // One of the two is the host: it computes its share while the other device does.
      const bool is_pair = other != home && facts_[other].host != facts_[home].host;
      const bool share_memory =
          facts_[other].memory_bytes_per_second > 0 && facts_[home].memory_bytes_per_second > 0;
      if (!is_pair || !share_memory || !r_.is_allowed(node, other)) continue;
      const Found found = best_share(node, home, other);
      if (try_to_replace(s, node, found)) return true;
    }
    return false;
  }

  Segment predicted(Segment segment) const {
    StepLoad load = r_.load;
    load.resident = plan_.resident;
    segment.estimate =
        r_.devices[device_of(segment.device)]->estimate(r_.graph, segment.nodes, load);
    return segment;
  }

  /// Cuts the segment before and behind the node if the step is shorter then.
  bool try_to_replace(size_t s, uint32_t node, const Found& found) {
    if (found.split.first_row == 0) return false;
    const Segment whole = plan_.segments[s];
    const uint32_t end = whole.nodes.first + whole.nodes.count;
    std::vector<Segment> parts;
    if (node > whole.nodes.first) {
      parts.push_back(predicted({whole.device, {whole.nodes.first, node - whole.nodes.first}}));
    }
    parts.push_back({whole.device, {node, 1}, found.estimate, found.split});
    if (node + 1 < end) parts.push_back(predicted({whole.device, {node + 1, end - node - 1}}));
    double seconds = 0;
    for (const Segment& part : parts) seconds += part.estimate.seconds;
    const double gain = whole.estimate.seconds - seconds;
    if (gain < kLeastGain * plan_.predicted.seconds) return false;
    const double copies = plan_.predicted.seconds - sum_of_segments().seconds;
    const auto at = plan_.segments.erase(plan_.segments.begin() + static_cast<ptrdiff_t>(s));
    plan_.segments.insert(at, parts.begin(), parts.end());
    plan_.predicted = sum_of_segments();
    plan_.predicted.seconds += copies;
    return true;
  }

  Estimate sum_of_segments() const {
    Estimate out;
    for (const Segment& segment : plan_.segments) out += segment.estimate;
    return out;
  }

  const SplitRequest& r_;
  PhasePlan& plan_;
  std::vector<Capabilities> facts_;
  std::set<Kind> useless_;
};

}  // namespace

void split_rows(const SplitRequest& request, PhasePlan& plan) { RowSplitter(request, plan).run(); }

}  // namespace tandem
