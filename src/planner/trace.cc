// Lanes over time, and the file that Perfetto opens.

#include "planner/trace.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "planner/report.h"

namespace tandem {
namespace {

/// Draws segments: a box on the device's own lane, and what the device tells of its parts below.
class TraceWriter {
 public:
  TraceWriter(std::span<Device* const> devices, Trace& out) : devices_(devices), out_(out) {}

  void draw(const Graph& graph, const ChunkStep& step, size_t segment, double start, double end,
            const std::string& what) {
    const Segment& s = step.phase->segments[segment];
    if (s.split) return draw_split(graph.nodes[s.nodes.first], s, start, end, what);
    const Device& device = find(s.device);
    const Node& first = graph.nodes[s.nodes.first];
    const Node& last = graph.nodes[s.nodes.first + s.nodes.count - 1];
    out_.spans.push_back({s.device, "segments", what, start, end, 0,
                          fmt::format("{} to {}, {} nodes", first.name, last.name, s.nodes.count)});
    std::vector<DeviceSpan> parts;
    const uint32_t rows =
        device.describe().static_shapes ? step.phase->shape.max_tokens : step.n_rows;
    const double alone = device
                             .estimate(graph, s.nodes,
                                       {.n_tokens = rows,
                                        .context = std::max(step.context, rows),
                                        .resident = step.phase->resident,
                                        .spans = &parts})
                             .seconds;
    // Slower than alone where devices share the memory: drawn evenly so.
    const double stretch = alone > 0 ? (end - start) / alone : 1;
    for (DeviceSpan& part : parts) {
      part.start *= stretch;
      part.end *= stretch;
      const bool is_node = part.node < s.nodes.first + s.nodes.count;
      const std::string name = is_node ? graph.nodes[part.node].name : "launch";
      out_.spans.push_back(
          {s.device, part.lane, name, start + part.start, start + part.end, part.bytes, what});
      if (part.bytes == 0) continue;
      out_.spans.push_back({"DRAM", s.device + " " + part.lane, name, start + part.start,
                            start + part.end, part.bytes, what});
    }
  }

 private:
  /// Both devices are at work from the start to the end.
  void draw_split(const Node& node, const Segment& s, double start, double end,
                  const std::string& what) {
    const std::string rows = std::to_string(s.split->first_row);
    out_.spans.push_back(
        {s.device, "segments", what, start, end, 0, node.name + ", rows before " + rows});
    out_.spans.push_back(
        {s.split->device, "segments", what, start, end, 0, node.name + ", rows from " + rows});
  }

  const Device& find(const std::string& name) const {
    for (const Device* device : devices_) {
      if (device->describe().name == name) return *device;
    }
    TANDEM_CHECK(false);
  }

  std::span<Device* const> devices_;
  Trace& out_;
};

struct LaneTotals {
  double busy = 0;
  uint64_t bytes = 0;
  size_t n_spans = 0;
};

/// Length of the union of intervals.
double covered(std::vector<std::pair<double, double>> intervals) {
  std::sort(intervals.begin(), intervals.end());
  double out = 0, until = 0;
  for (const auto& [start, end] : intervals) {
    out += std::max(0.0, end - std::max(start, until));
    until = std::max(until, end);
  }
  return out;
}

/// Seconds in which at least two devices had a segment under way.
double overlapped(const std::vector<TraceSpan>& spans) {
  std::map<double, int> changes;
  for (const TraceSpan& s : spans) {
    if (s.lane != "segments") continue;
    ++changes[s.start];
    --changes[s.end];
  }
  double out = 0, before = 0;
  int running = 0;
  for (const auto& [time, change] : changes) {
    if (running >= 2) out += time - before;
    running += change;
    before = time;
  }
  return out;
}

}  // namespace

std::string Trace::summary() const {
  std::map<std::pair<std::string, std::string>, std::vector<std::pair<double, double>>> intervals;
  std::map<std::pair<std::string, std::string>, LaneTotals> totals;
  for (const TraceSpan& s : spans) {
    intervals[{s.process, s.lane}].emplace_back(s.start, s.end);
    LaneTotals& t = totals[{s.process, s.lane}];
    t.bytes += s.bytes;
    ++t.n_spans;
  }
  std::string out = fmt::format("{} in all, {} of it the prompt{}\n", format_seconds(seconds),
                                format_seconds(prompt_seconds),
                                soc.empty() ? "" : fmt::format(" (simulated: {})", soc));
  out += fmt::format("{:<10} {:<14} {:>12} {:>7} {:>12} {:>10} {:>8}\n", "device", "lane", "busy",
                     "busy %", "idle", "bytes", "spans");
  for (auto& [key, t] : totals) {
    t.busy = covered(intervals[key]);
    out += fmt::format("{:<10} {:<14} {:>12} {:>7.1f} {:>12} {:>10} {:>8}\n", key.first, key.second,
                       format_seconds(t.busy), seconds > 0 ? 100 * t.busy / seconds : 0,
                       format_seconds(std::max(0.0, seconds - t.busy)),
                       t.bytes > 0 ? format_bytes(t.bytes) : "-", t.n_spans);
  }
  return out +
         fmt::format("two devices at work at once for {}\n", format_seconds(overlapped(spans)));
}

Trace trace_workload(const Plan& plan, const Graph& prefill, const Graph& decode,
                     std::span<Device* const> devices, uint32_t prompt_tokens, uint32_t n_decoded) {
  Trace out;
  TraceWriter writer(devices, out);
  std::vector<ChunkStep> chunks;
  for (uint32_t done = 0; done < prompt_tokens;) {
    const uint32_t rows = std::min(prompt_tokens - done, plan.next_chunk(prompt_tokens - done));
    done += rows;
    chunks.push_back({&plan.phases[plan.prefill_for(rows)], rows, done});
  }
  const auto estimates_on = [devices](const Graph* graph) {
    return [devices, graph](const ChunkStep& step, size_t segment) {
      return estimate_segment(*graph, *step.phase, segment, devices, step.n_rows, step.context);
    };
  };
  const auto tasks =
      prompt_tasks(prefill, plan.devices, chunks, estimates_on(&prefill), kPromptWorkspaces);
  const auto spans = simulate(tasks, plan.devices.size(), shared_memory_bandwidth(plan.devices));
  for (const TaskSpan& span : spans) {
    const Task& task = tasks[span.task];
    writer.draw(prefill, chunks[task.chunk], task.segment, span.start, span.end,
                fmt::format("prompt chunk {}", task.chunk));
  }
  double now = out.prompt_seconds = makespan(spans);
  const PhasePlan& phase = plan.phase(Phase::kDecode);
  for (uint32_t i = 0; i < n_decoded; ++i) {
    const ChunkStep step{&phase, 1, prompt_tokens + i + 1};
    for (size_t s = 0; s < phase.segments.size(); ++s) {
      const double end = now + estimates_on(&decode)(step, s).seconds;
      writer.draw(decode, step, s, now, end, fmt::format("token {}", i));
      now = end;
    }
  }
  out.seconds = now;
  return out;
}

}  // namespace tandem
