#include "planner/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "planner/testing/fake_device.h"

namespace tandem {
namespace {

using testing::FakeDevice;

PlanReport sample_report() {
  static const Graph prefill = testing::ten_node_graph(Phase::kPrefill);
  static const Graph decode = testing::ten_node_graph(Phase::kDecode);
  FakeDevice npu("npu", {Op::kLinear, Op::kAdd}), cpu("cpu", testing::all_ops());
  npu.seconds_per_node = 0.001;
  cpu.seconds_per_node = 0.005;
  npu.facts.simulated = cpu.facts.simulated = true;
  npu.facts.description = "a <virtual> NPU";
  Device* const devices[] = {&npu, &cpu};
  const PlanRequest requests[] = {{prefill, {8, 8}}, {decode, {1, 1}}};
  const auto plan = make_plan(requests, devices, 64);
  EXPECT_TRUE(plan) << plan.error().message;
  PlanReport report = make_report(*plan, prefill, decode, devices, {16, 3});
  report.model = "a \"small\" model";
  report.soc = "some-soc";
  return report;
}

TEST(PlanReport, TextNamesEveryFigureAndMarksItSimulated) {
  const std::string text = sample_report().to_text();
  for (const char* part :
       {"Delegated 6 of 10 nodes (100.0 % of MACs", "simulated: some-soc",
        "1 glu not on npu: unsupported_op: glu is not built in", "5 crossings",
        "linear                   5      5", "predicted for 16 prompt and 3 generated tokens",
        "prefill 41.000 ms to the first token", "decode  38.46 tokens/s", "chunks  8 + 8"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(PlanReport, JsonHasAVersionedSchema) {
  const auto json = nlohmann::json::parse(sample_report().to_json());
  EXPECT_EQ(json["schema"], "tandem.plan_report.v1");
  EXPECT_EQ(json["simulated"], "some-soc");
  EXPECT_EQ(json["plan"]["schema"], "tandem.plan.v1");
  EXPECT_EQ(json["delegation"][0]["delegated"], 6);
  EXPECT_EQ(json["delegation"][0]["nodes"], 10);
  EXPECT_EQ(json["delegation"][0]["not_delegated"][2]["node"], "layers.0.glu");
  EXPECT_EQ(json["delegation"][0]["not_delegated"][2]["reasons"][0]["reason"], "unsupported_op");
  EXPECT_EQ(json["delegation"][0]["placement"][2]["device"], "npu");
  EXPECT_NEAR(json["prediction"]["decode_tokens_per_second"].get<double>(), 1 / 0.026, 1e-6);
}

TEST(PlanReport, HtmlIsOnePageThatFetchesNothingAndEscapes) {
  const std::string html = sample_report().to_html();
  EXPECT_NE(html.find("a &quot;small&quot; model"), std::string::npos);
  EXPECT_NE(html.find("a &lt;virtual&gt; NPU"), std::string::npos);
  EXPECT_NE(html.find("layer 0"), std::string::npos);
  EXPECT_NE(html.find("not on npu: unsupported_op"), std::string::npos);
  for (const char* part : {"http:", "https:", "src=", "<script", "<virtual>"}) {
    EXPECT_EQ(html.find(part), std::string::npos) << part;
  }
}

TEST(PlanReport, HtmlTellsReasonsAndDrawsSharedRows) {
  PlanReport report = sample_report();
  EXPECT_EQ(report.to_html().find("linear-gradient"), std::string::npos);
  report.nodes[0].back().shared_with = 0;
  const std::string html = report.to_html();
  EXPECT_NE(html.find("linear-gradient"), std::string::npos);
  EXPECT_NE(html.find("two devices share its rows"), std::string::npos);
  EXPECT_NE(html.find("<td>glu</td><td>1</td><td>npu</td>"), std::string::npos) << html;
}

TEST(Formats, AreForPeople) {
  EXPECT_EQ(format_seconds(1.5), "1.500 s");
  EXPECT_EQ(format_seconds(0.0123), "12.300 ms");
  EXPECT_EQ(format_seconds(1.2e-5), "12.0 us");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1'210'000'000), "1.21 GB");
}

}  // namespace
}  // namespace tandem
