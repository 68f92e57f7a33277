#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "planner/plan.h"

namespace tandem {

/// One execution of a segment, in a graph of them.
struct Task {
  size_t device = 0;                 ///< lane that it occupies
  double seconds = 0;                ///< estimated; decides the order of issue, and the event clock
  double bytes = 0;                  ///< drawn meanwhile from the memory that devices share
  std::vector<uint32_t> after = {};  ///< tasks that come before
  uint32_t chunk = 0;
  uint32_t segment = 0;
};

/// Where tasks run: a clock that jumps from end to end, or threads.
class TaskBackend {
 public:
  virtual ~TaskBackend() = default;
  /// Begins a task; its device is free and everything before it has ended.
  virtual void start(uint32_t task) = 0;
  struct Ended {
    uint32_t task;
    Result<void> outcome;
  };
  /// Blocks until some task that was started ends.
  virtual Ended wait_any() = 0;
};

/// Runs a graph: whenever a device is free it gets, of the tasks that are ready, the one with the
/// longest way to the end. One task at a time a device. The first failure stops new tasks; those
/// that run are waited for. Tasks come in an order in which each is after its predecessors.
Result<void> execute(std::span<const Task> tasks, size_t n_devices, TaskBackend& backend);

/// Seconds from each task's start to the end of everything, along its longest chain. (n_tasks)
std::vector<double> seconds_to_end(std::span<const Task> tasks);

/// When a task ran on the event clock.
struct TaskSpan {
  uint32_t task;
  double start;
  double end;
};

/// The event clock: execute() with estimates for time. Tasks at work at once share
/// `memory_bytes_per_second` (0: no limit) fairly, and those that get less than they draw alone
/// take longer. Spans by start.
std::vector<TaskSpan> simulate(std::span<const Task> tasks, size_t n_devices,
                               double memory_bytes_per_second = 0);
/// The last end.
double makespan(std::span<const TaskSpan> spans);

/// Chunks of a prompt that are under way at a time: each has a workspace of its own.
inline constexpr uint32_t kPromptWorkspaces = 2;

/// A chunk of a prompt: which plan runs it, and at what load.
struct ChunkStep {
  const PhasePlan* phase;
  uint32_t n_rows;
  uint32_t context;
};

/// Cost of a segment of a chunk; given by whoever knows the devices.
using SegmentEstimate = std::function<Estimate(const ChunkStep& step, size_t segment)>;

/// What the devices can draw together from the memory they share; 0: not known.
double shared_memory_bandwidth(std::span<const Capabilities> devices);

/// The segments of several chunks of one prompt. A segment follows the one before it in its chunk;
/// where it reads a layer's cache, the segments of the chunk before that write it; and a chunk
/// waits for the one `n_workspaces` earlier to end, whose memory it uses.
std::vector<Task> prompt_tasks(const Graph& graph, std::span<const Capabilities> devices,
                               std::span<const ChunkStep> chunks, const SegmentEstimate& estimate,
                               uint32_t n_workspaces);

}  // namespace tandem
