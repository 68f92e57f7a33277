// Issues tasks by critical path, on an event clock or on whatever a backend is.

#include "planner/schedule.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/check.h"

namespace tandem {
namespace {

/// Ready tasks of one device, the longest way to the end first; the earlier at equal length.
struct MoreUrgent {
  const std::vector<double>* rest;
  bool operator()(uint32_t a, uint32_t b) const {
    if ((*rest)[a] != (*rest)[b]) return (*rest)[a] > (*rest)[b];
    return a < b;
  }
};
using ReadyQueue = std::set<uint32_t, MoreUrgent>;

/// Tasks advance at a rate of 1, or slower while memory does not give all that they draw together.
class EventClock : public TaskBackend {
 public:
  EventClock(std::span<const Task> tasks, double memory_bytes_per_second)
      : tasks_(tasks), limit_(memory_bytes_per_second) {}

  void start(uint32_t task) override {
    running_.push_back({task, tasks_[task].seconds, spans_.size()});
    spans_.push_back({task, now_, now_});
    share_memory();
  }

  Ended wait_any() override {
    TANDEM_CHECK(!running_.empty());
    const auto time_left = [](const Running& r) { return r.seconds_left / r.rate; };
    const auto first = std::min_element(
        running_.begin(), running_.end(),
        [&](const Running& a, const Running& b) { return time_left(a) < time_left(b); });
    const double passed = time_left(*first);
    now_ += passed;
    for (Running& r : running_) r.seconds_left -= passed * r.rate;
    spans_[first->span].end = now_;
    const Ended out{first->task, {}};
    running_.erase(first);
    share_memory();
    return out;
  }

  std::vector<TaskSpan> take_spans() { return std::move(spans_); }

 private:
  struct Running {
    uint32_t task;
    double seconds_left;  ///< if it ran alone
    size_t span;
    double rate = 1;
  };

  double demand(const Running& r) const {
    const Task& task = tasks_[r.task];
    return task.seconds > 0 ? task.bytes / task.seconds : 0;
  }

  /// Equal shares; what one does not draw goes to the others.
  void share_memory() {
    if (limit_ <= 0) return;
    std::vector<Running*> by_demand;
    for (Running& r : running_) by_demand.push_back(&r);
    std::sort(by_demand.begin(), by_demand.end(),
              [&](const Running* a, const Running* b) { return demand(*a) < demand(*b); });
    double left = limit_;
    for (size_t i = 0; i < by_demand.size(); ++i) {
      const double share = left / static_cast<double>(by_demand.size() - i);
      const double wanted = demand(*by_demand[i]);
      by_demand[i]->rate = wanted > share ? share / wanted : 1;
      left -= std::min(wanted, share);
    }
  }

  std::span<const Task> tasks_;
  double limit_;
  double now_ = 0;
  std::vector<Running> running_;
  std::vector<TaskSpan> spans_;
};

/// Which segment of a phase holds each node.
std::vector<uint32_t> segment_of_nodes(const PhasePlan& phase) {
  std::vector<uint32_t> out;
  for (uint32_t s = 0; s < phase.segments.size(); ++s) {
    out.insert(out.end(), phase.segments[s].nodes.count, s);
  }
  return out;
}

/// For each state the segments that write and read it.
struct StateUse {
  std::set<uint32_t> writers, users;
};

std::map<StateId, StateUse> state_uses(const Graph& graph, const PhasePlan& phase) {
  const std::vector<uint32_t> segment = segment_of_nodes(phase);
  std::map<StateId, StateUse> out;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeAttributes& a = graph.nodes[i].attributes;
    if (const auto* write = std::get_if<KvWriteAttributes>(&a)) {
      out[write->state].writers.insert(segment[i]);
      out[write->state].users.insert(segment[i]);
    } else if (const auto* read = std::get_if<AttentionAttributes>(&a)) {
      out[read->state].users.insert(segment[i]);
    }
  }
  return out;
}

size_t index_of(std::span<const Capabilities> devices, const std::string& name) {
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const Capabilities& c) { return c.name == name; });
  TANDEM_CHECK(found != devices.end());
  return static_cast<size_t>(found - devices.begin());
}

}  // namespace

std::vector<double> seconds_to_end(std::span<const Task> tasks) {
  std::vector<double> out(tasks.size(), 0);
  for (size_t i = tasks.size(); i-- > 0;) {
    out[i] += tasks[i].seconds;
    for (uint32_t before : tasks[i].after) out[before] = std::max(out[before], out[i]);
  }
  return out;
}

Result<void> execute(std::span<const Task> tasks, size_t n_devices, TaskBackend& backend) {
  const std::vector<double> rest = seconds_to_end(tasks);
  std::vector<ReadyQueue> ready(n_devices, ReadyQueue(MoreUrgent{&rest}));
  std::vector<bool> is_busy(n_devices, false);
  std::vector<uint32_t> n_before(tasks.size());
  std::vector<std::vector<uint32_t>> behind(tasks.size());
  for (uint32_t i = 0; i < tasks.size(); ++i) {
    n_before[i] = static_cast<uint32_t>(tasks[i].after.size());
    for (uint32_t before : tasks[i].after) {
      TANDEM_CHECK(before < i);
      behind[before].push_back(i);
    }
    if (n_before[i] == 0) ready[tasks[i].device].insert(i);
  }
  size_t n_running = 0;
  Result<void> outcome;
  for (;;) {
    for (size_t d = 0; d < n_devices && outcome; ++d) {
      if (is_busy[d] || ready[d].empty()) continue;
      const uint32_t task = *ready[d].begin();
      ready[d].erase(ready[d].begin());
      is_busy[d] = true;
      ++n_running;
      backend.start(task);
    }
    if (n_running == 0) return outcome;
    TaskBackend::Ended ended = backend.wait_any();
    --n_running;
    is_busy[tasks[ended.task].device] = false;
    if (!ended.outcome && outcome) outcome = std::move(ended.outcome);
    for (uint32_t next : behind[ended.task]) {
      if (--n_before[next] == 0) ready[tasks[next].device].insert(next);
    }
  }
}

std::vector<TaskSpan> simulate(std::span<const Task> tasks, size_t n_devices,
                               double memory_bytes_per_second) {
  EventClock clock(tasks, memory_bytes_per_second);
  TANDEM_CHECK(execute(tasks, n_devices, clock));
  return clock.take_spans();
}

double makespan(std::span<const TaskSpan> spans) {
  double out = 0;
  for (const TaskSpan& span : spans) out = std::max(out, span.end);
  return out;
}

double shared_memory_bandwidth(std::span<const Capabilities> devices) {
  double out = 0;
  for (const Capabilities& device : devices) out = std::max(out, device.memory_bytes_per_second);
  return out;
}

std::vector<Task> prompt_tasks(const Graph& graph, std::span<const Capabilities> devices,
                               std::span<const ChunkStep> chunks, const SegmentEstimate& estimate,
                               uint32_t n_workspaces) {
  std::vector<Task> out;
  std::vector<uint32_t> first_task;  // of each chunk
  std::map<StateId, StateUse> before;
  for (uint32_t c = 0; c < chunks.size(); ++c) {
    const PhasePlan& phase = *chunks[c].phase;
    first_task.push_back(static_cast<uint32_t>(out.size()));
    const auto uses = state_uses(graph, phase);
    for (uint32_t s = 0; s < phase.segments.size(); ++s) {
      const size_t device = index_of(devices, phase.segments[s].device);
      const Estimate cost = estimate(chunks[c], s);
      const bool shares = devices[device].memory_bytes_per_second > 0;
      Task task{.device = device,
                .seconds = cost.seconds,
                .bytes = shares ? static_cast<double>(cost.bytes) : 0,
                .after = {},
                .chunk = c,
                .segment = s};
      std::set<uint32_t> after;
      if (s > 0) after.insert(first_task[c] + s - 1);
      if (s == 0 && c >= n_workspaces) after.insert(first_task[c - n_workspaces + 1] - 1);
      for (const auto& [state, use] : uses) {
        if (c == 0 || !use.users.contains(s)) continue;
        for (uint32_t writer : before[state].writers) after.insert(first_task[c - 1] + writer);
      }
      task.after.assign(after.begin(), after.end());
      out.push_back(std::move(task));
    }
    before = uses;
  }
  return out;
}

}  // namespace tandem
