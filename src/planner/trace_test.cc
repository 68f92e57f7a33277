#include "planner/trace.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "planner/testing/fake_device.h"

namespace tandem {
namespace {

using testing::FakeDevice;

TEST(Trace, DrawsEverySegmentOnOneClock) {
  const Graph prefill = testing::ten_node_graph(Phase::kPrefill);
  const Graph decode = testing::ten_node_graph(Phase::kDecode);
  FakeDevice npu("npu", {Op::kLinear, Op::kAdd}), cpu("cpu", testing::all_ops());
  npu.seconds_per_node = 1;
  cpu.seconds_per_node = 5;
  Device* const devices[] = {&npu, &cpu};
  const PlanRequest requests[] = {{prefill, {8, 8}}, {decode, {1, 1}}};
  const auto plan = make_plan(requests, devices, 64);
  ASSERT_TRUE(plan);
  Trace trace = trace_workload(*plan, prefill, decode, devices, 16, 2);
  trace.soc = "some-soc";
  const size_t n_segments = plan->phases[0].segments.size();
  EXPECT_EQ(trace.spans.size(), 2 * n_segments + 2 * n_segments);
  // 26 s a chunk, 20 of them on the host: its two chunks one after another, then the head.
  EXPECT_DOUBLE_EQ(trace.prompt_seconds, 41);
  EXPECT_DOUBLE_EQ(trace.seconds, trace.prompt_seconds + 52);

  const auto json = nlohmann::json::parse(trace.to_chrome_json());
  EXPECT_EQ(json["otherData"]["clock"], "simulated: some-soc");
  size_t n_boxes = 0;
  for (const auto& event : json["traceEvents"]) {
    if (event["ph"] != "X") continue;
    ++n_boxes;
    EXPECT_GE(event["dur"].get<double>(), 0);
    EXPECT_TRUE(event.contains("pid") && event.contains("tid") && event.contains("ts"));
  }
  EXPECT_EQ(n_boxes, trace.spans.size());
  const std::string summary = trace.summary();
  EXPECT_NE(summary.find("(simulated: some-soc)"), std::string::npos) << summary;
  EXPECT_NE(summary.find("two devices at work at once for 11.000 s"), std::string::npos) << summary;
}

/// [ts, ts + dur) of the boxes of each thread, in the order of the file.
std::map<int, std::vector<std::pair<double, double>>> boxes_by_thread(const std::string& text) {
  std::map<int, std::vector<std::pair<double, double>>> out;
  const auto document = nlohmann::json::parse(text);
  for (const auto& event : document["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const double start = event["ts"], length = event["dur"];
    out[event["tid"].get<int>()].emplace_back(start, start + length);
  }
  return out;
}

// Readers drop boxes of one thread that overlap, were it by a rounding error.
TEST(Trace, BoxesOfAThreadNeverOverlap) {
  Trace trace;
  double now = 0;
  for (int i = 0; i < 1000; ++i) {  // ends and starts that meet after many roundings
    const double next = now + 1e-7 / 3;
    trace.spans.push_back({"npu", "mac_array", "tile", now, next});
    now = next;
  }
  trace.spans.push_back({"npu", "dma_in", "a", 0, 2e-6});
  trace.spans.push_back({"npu", "dma_in", "b", 1e-6, 3e-6});  // a second channel
  trace.spans.push_back({"npu", "dma_in", "c", 2e-6, 4e-6});  // the first one is free again
  const auto threads = boxes_by_thread(trace.to_chrome_json());
  EXPECT_EQ(threads.size(), 3u);
  size_t n_boxes = 0;
  for (const auto& [thread, boxes] : threads) {
    n_boxes += boxes.size();
    for (size_t i = 1; i < boxes.size(); ++i) {
      EXPECT_LE(boxes[i - 1].second, boxes[i].first) << "thread " << thread << ", box " << i;
      // As readers that keep whole nanoseconds see it.
      const auto ns = [](double us) { return static_cast<int64_t>(us * 1000); };
      const double length = boxes[i - 1].second - boxes[i - 1].first;
      EXPECT_LE(ns(boxes[i - 1].first) + ns(length), ns(boxes[i].first));
    }
  }
  EXPECT_EQ(n_boxes, trace.spans.size());
}

}  // namespace
}  // namespace tandem
