#include "planner/schedule.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <thread>

#include "planner/testing/fake_device.h"

namespace tandem {
namespace {

TEST(Execute, IssuesTheLongestWayToTheEndFirst) {
  // Task 1 leads to nothing, task 2 to a long tail on the other device.
  const std::vector<Task> tasks{{.device = 0, .seconds = 1},
                                {.device = 0, .seconds = 3, .after = {0}},
                                {.device = 0, .seconds = 1, .after = {0}},
                                {.device = 1, .seconds = 5, .after = {2}}};
  const auto spans = simulate(tasks, 2);
  ASSERT_EQ(spans.size(), 4u);
  EXPECT_EQ(spans[1].task, 2u);
  EXPECT_DOUBLE_EQ(makespan(spans), 7);
}

/// Random graphs: nothing starts before what it is after, a device does one thing at a time.
TEST(Simulate, KeepsEveryRule) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<Task> tasks(20);
    double work[3] = {};
    for (uint32_t i = 0; i < tasks.size(); ++i) {
      tasks[i].device = random() % 3;
      tasks[i].seconds = 1 + random() % 5;
      work[tasks[i].device] += tasks[i].seconds;
      for (uint32_t before = 0; before < i; ++before) {
        if (random() % 8 == 0) tasks[i].after.push_back(before);
      }
    }
    const auto spans = simulate(tasks, 3);
    ASSERT_EQ(spans.size(), tasks.size());
    std::vector<TaskSpan> of_task(tasks.size());
    for (const TaskSpan& s : spans) of_task[s.task] = s;
    for (const TaskSpan& s : spans) {
      EXPECT_DOUBLE_EQ(s.end - s.start, tasks[s.task].seconds);
      for (uint32_t before : tasks[s.task].after) EXPECT_LE(of_task[before].end, s.start);
      for (const TaskSpan& other : spans) {
        const bool shares =
            other.task != s.task && tasks[other.task].device == tasks[s.task].device;
        if (shares) {
          EXPECT_TRUE(other.end <= s.start || s.end <= other.start);
        }
      }
    }
    const auto rest = seconds_to_end(tasks);
    const double critical = *std::max_element(rest.begin(), rest.end());
    EXPECT_GE(makespan(spans), std::max({critical, work[0], work[1], work[2]}));
    EXPECT_LE(makespan(spans), work[0] + work[1] + work[2]);
  }
}

/// Each task on a thread; ends are queued.
class Threads : public TaskBackend {
 public:
  explicit Threads(std::function<Result<void>(uint32_t)> run) : run_(std::move(run)) {}
  ~Threads() override {
    for (std::thread& t : threads_) t.join();
  }
  void start(uint32_t task) override {
    threads_.emplace_back([this, task] {
      Ended ended{task, run_(task)};
      const std::lock_guard lock(mutex_);
      ended_.push_back(std::move(ended));
      wake_.notify_one();
    });
  }
  Ended wait_any() override {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return !ended_.empty(); });
    Ended out = std::move(ended_.front());
    ended_.pop_front();
    return out;
  }

 private:
  std::function<Result<void>(uint32_t)> run_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Ended> ended_;
};

TEST(Execute, TheSameCodeRunsThreads) {
  std::vector<Task> tasks(30);
  for (uint32_t i = 0; i < tasks.size(); ++i) {
    tasks[i].device = i % 2;
    if (i >= 2) tasks[i].after = {i - 2, i - 1};
  }
  std::mutex mutex;
  std::vector<bool> done(tasks.size(), false);
  Threads threads([&](uint32_t task) -> Result<void> {
    const std::lock_guard lock(mutex);
    for (uint32_t before : tasks[task].after) EXPECT_TRUE(done[before]);
    done[task] = true;
    return {};
  });
  ASSERT_TRUE(execute(tasks, 2, threads));
  EXPECT_TRUE(std::all_of(done.begin(), done.end(), [](bool d) { return d; }));
}

TEST(Execute, AFailureStopsWhatHasNotBegun) {
  std::vector<Task> tasks(10);
  for (uint32_t i = 1; i < tasks.size(); ++i) tasks[i].after = {i - 1};
  std::atomic<int> n_run{0};
  Threads threads([&](uint32_t task) -> Result<void> {
    ++n_run;
    if (task == 3) return failure(ErrorCode::kDevice, "lost");
    return {};
  });
  const auto outcome = execute(tasks, 1, threads);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "lost");
  EXPECT_EQ(n_run, 4);
}

/// Two layers of attention on the host and the rest on an NPU.
struct TwoLayers {
  Graph graph;
  PhasePlan plan;
  std::vector<Capabilities> devices{2};

  TwoLayers() {
    static const std::byte bytes[32 * 32 * 4]{};
    GraphBuilder build(Phase::kPrefill);
    const auto weight = [&] {
      return build.add_weight({"w", DType::kF32, 32, 32, bytes, nullptr});
    };
    ValueId x = build.embed(weight());
    plan.segments.push_back({"npu", {0, 0}});
    for (int layer = 0; layer < 2; ++layer) {
      build.enter_layer(layer);
      const StateId state = build.add_state(KvState{1, 32, 32, 0});
      const ValueId q = build.linear("q", x, weight());
      build.kv_write(q, q, state);
      plan.segments.back().nodes.count = 1 + layer * 3 + 1 - plan.segments.back().nodes.first;
      plan.segments.push_back({"cpu", {2u + layer * 3, 2}});
      x = build.attention(q, {state, 1, 1.0f, 0.0f});
      plan.segments.push_back({"npu", {4u + layer * 3, 0}});
    }
    build.leave_layers();
    graph = build.finish(build.linear("head", x, weight()));
    plan.segments.back().nodes.count = 1;
    devices[0].name = "npu";
    devices[1].name = "cpu";
  }
  std::vector<Task> tasks(uint32_t n_chunks, uint32_t n_workspaces) {
    const std::vector<ChunkStep> chunks(n_chunks, ChunkStep{&plan, 4, 4});
    return prompt_tasks(
        graph, devices, chunks, [](const ChunkStep&, size_t) { return Estimate{.seconds = 1}; },
        n_workspaces);
  }
};

TEST(Simulate, TasksAtOnceShareTheMemory) {
  // Alone they draw 60 and 20 of 60 bytes a second: the second gets its 20, the first 40.
  const std::vector<Task> tasks = {{.device = 0, .seconds = 2, .bytes = 120},
                                   {.device = 1, .seconds = 1, .bytes = 20}};
  EXPECT_DOUBLE_EQ(makespan(simulate(tasks, 2)), 2);
  const auto spans = simulate(tasks, 2, 60);
  EXPECT_DOUBLE_EQ(spans[1].end, 1);
  // 40 bytes in the first second, the other 80 at full speed.
  EXPECT_DOUBLE_EQ(spans[0].end, 1 + 80.0 / 60);
  const std::vector<Task> serial = {{.device = 0, .seconds = 2, .bytes = 120},
                                    {.device = 0, .seconds = 1, .bytes = 20}};
  EXPECT_DOUBLE_EQ(makespan(simulate(serial, 2, 60)), 3);
}

TEST(PromptTasks, AChunksAttentionWaitsForTheCacheOfTheOneBefore) {
  TwoLayers f;
  ASSERT_EQ(f.plan.segments.size(), 5u);
  const auto tasks = f.tasks(2, 2);
  ASSERT_EQ(tasks.size(), 10u);
  EXPECT_EQ(tasks[5].after, (std::vector<uint32_t>{}));      // embeds at once
  EXPECT_EQ(tasks[6].after, (std::vector<uint32_t>{1, 5}));  // layer 0's cache
  EXPECT_EQ(tasks[8].after, (std::vector<uint32_t>{3, 7}));  // layer 1's cache
  EXPECT_EQ(f.tasks(2, 1)[5].after, (std::vector<uint32_t>{4}));
}

TEST(PromptTasks, ChunksOverlapOnTwoDevices) {
  TwoLayers f;
  const auto serial = simulate(f.tasks(4, 1), 2);
  const auto overlapped = simulate(f.tasks(4, 2), 2);
  EXPECT_DOUBLE_EQ(makespan(serial), 20);
  EXPECT_LT(makespan(overlapped), 15);
}

}  // namespace
}  // namespace tandem
