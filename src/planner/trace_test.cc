#include "planner/trace.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tandem
