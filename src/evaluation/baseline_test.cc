#include "evaluation/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tandem {
namespace {

using Verdict = MetricComparison::Verdict;

std::string document(const std::string& metrics, const std::string& evaluation = "null") {
  return R"({"schema": "tandem.gate.v1", "note": "kept", "evaluation": )" + evaluation +
         R"(, "metrics": )" + metrics + "}";
}

std::string refusal(const std::string& text) {
  const auto baseline = Baseline::parse("dir/b.json", text);
  return baseline ? std::string() : baseline.error().message;
}

constexpr const char* kMetrics = R"({
  "accuracy": {"perplexity": {"value": 10, "relative_tolerance": 0.01, "better": "lower"},
               "facts": {"value": 0.5, "tolerance": 0.02, "better": "higher"}},
  "delegation": {"nodes": {"value": 120, "better": "equal"}}})";

Verdict verdict(const std::string& section, const std::string& name, double measured) {
  const auto baseline = *Baseline::parse("b.json", document(kMetrics));
  for (const auto& row : compare(baseline, {{section, {{name, measured}}}}, {section})) {
    if (row.baseline.name == name) return row.verdict;
  }
  return Verdict::kMissing;
}

TEST(Baseline, DirectionsAndTolerances) {
  EXPECT_EQ(verdict("accuracy", "perplexity", 10.1), Verdict::kSame);
  EXPECT_EQ(verdict("accuracy", "perplexity", 10.11), Verdict::kRegressed);
  EXPECT_EQ(verdict("accuracy", "perplexity", 9.9), Verdict::kSame);
  EXPECT_EQ(verdict("accuracy", "perplexity", 9.8), Verdict::kImproved);
  EXPECT_EQ(verdict("accuracy", "facts", 0.48), Verdict::kSame);
  EXPECT_EQ(verdict("accuracy", "facts", 0.47), Verdict::kRegressed);
  EXPECT_EQ(verdict("accuracy", "facts", 0.53), Verdict::kImproved);
  EXPECT_EQ(verdict("delegation", "nodes", 120), Verdict::kSame);
  EXPECT_EQ(verdict("delegation", "nodes", 119), Verdict::kRegressed);
  EXPECT_EQ(verdict("delegation", "nodes", 121), Verdict::kRegressed);
  EXPECT_EQ(verdict("accuracy", "perplexity", std::nan("")), Verdict::kMissing);
}

TEST(Baseline, WhatWasNotMeasuredIsBad) {
  const auto baseline = *Baseline::parse("b.json", document(kMetrics));
  const auto rows = compare(baseline, {{"accuracy", {{"facts", std::nullopt}}}}, {});
  ASSERT_EQ(rows.size(), 3u);
  for (const auto& row : rows) {
    EXPECT_EQ(row.verdict, Verdict::kMissing);
    EXPECT_TRUE(row.is_bad());
  }
}

TEST(Baseline, UpdateChangesValuesOnly) {
  const auto baseline = *Baseline::parse("b.json", document(kMetrics));
  const auto updated = baseline.updated({{"accuracy", {{"perplexity", 9.5}, {"unknown", 1.0}}}});
  auto expected = nlohmann::ordered_json::parse(document(kMetrics));
  expected["metrics"]["accuracy"]["perplexity"]["value"] = 9.5;
  EXPECT_EQ(updated, expected.dump(2) + "\n");
  EXPECT_TRUE(Baseline::parse("b.json", updated));
}

TEST(Baseline, EvaluationPathsAreRelativeToItsFolder) {
  const auto baseline = Baseline::parse(
      "dir/b.json",
      document(kMetrics, R"({"model": "m.gguf", "text": "t.txt", "mode": "chunked", "window": 64,
                             "documents": true, "tasks": [{"file": "f.jsonl", "limit": 9}]})"));
  ASSERT_TRUE(baseline) << baseline.error().message;
  EXPECT_EQ(baseline->model(), "dir/m.gguf");
  const auto request = *baseline->evaluation();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->text, "dir/t.txt");
  EXPECT_EQ(request->windows.mode, WindowMode::kChunked);
  EXPECT_EQ(request->windows.window, 64u);
  EXPECT_TRUE(request->text_options.documents);
  ASSERT_EQ(request->tasks.size(), 1u);
  EXPECT_EQ(request->tasks[0].path, "dir/f.jsonl");
  EXPECT_EQ(request->tasks[0].limit, 9u);
  EXPECT_FALSE(*Baseline::parse("b.json", document(kMetrics))->evaluation());
}

TEST(Baseline, ErrorsNameKeyAndFile) {
  EXPECT_EQ(refusal("{}"), "dir/b.json: not a baseline (schema tandem.gate.v1)");
  EXPECT_NE(refusal(document("{}")).find("metrics must be"), std::string::npos);
  EXPECT_NE(refusal(document(R"({"a": {"b": {}}})")).find("metrics.a.b.value"), std::string::npos);
  EXPECT_NE(refusal(document(R"({"a": {"b": {"value": 1}}})")).find("metrics.a.b.better"),
            std::string::npos);
  const std::string metric = R"({"a": {"b": {"value": 1, "better": "lower", )";
  EXPECT_NE(refusal(document(metric + R"("tolerance": -1}}})")).find("metrics.a.b.tolerance"),
            std::string::npos);
  EXPECT_NE(refusal(document(metric + R"("tolerence": 1}}})")).find("tolerence is unknown"),
            std::string::npos);
  EXPECT_NE(refusal(document(kMetrics, R"({"window": "x"})")).find("evaluation.window"),
            std::string::npos);
  EXPECT_NE(refusal(document(kMetrics, R"({"mode": "x"})")).find("evaluation.mode"),
            std::string::npos);
}

TEST(Baseline, FiguresOfOtherPrograms) {
  MetricValues values{{"size", {{"kept", 1.0}}}};
  const auto outcome = read_metrics(
      "m.json",
      R"({"schema": "tandem.metrics.v1", "metrics": {"delegation": {"nodes": 7, "gone": null}}})",
      values);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(values["delegation"]["nodes"], 7.0);
  EXPECT_EQ(values["delegation"]["gone"], std::nullopt);
  EXPECT_EQ(values["size"]["kept"], 1.0);
  EXPECT_FALSE(read_metrics("m.json", "[]", values));
  EXPECT_FALSE(
      read_metrics("m.json", R"({"schema": "tandem.metrics.v1", "metrics": {"a": 1}})", values));
}

TEST(Baseline, DelegationSaysWhichShapesToPlan) {
  const auto with = [](const std::string& request) {
    return R"({"schema": "tandem.gate.v1", "metrics": )" + std::string(kMetrics) +
           R"(, "delegation": )" + request + "}";
  };
  EXPECT_FALSE(*Baseline::parse("b.json", document(kMetrics))->delegation());
  const auto request =
      *Baseline::parse("b.json", with(R"({"shapes": ["a"], "prompt_tokens": 7})"))->delegation();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->shapes, std::vector<std::string>{"a"});
  EXPECT_EQ(request->type, "Q4_0");
  EXPECT_EQ(request->prompt_tokens, 7u);
  EXPECT_EQ(request->generated_tokens, 128u);
  for (const char* wrong :
       {"1", "{}", R"({"shapes": []})", R"({"shapes": [1]})",
        R"({"shapes": ["a"], "prompt_tokens": 0})", R"({"shapes": ["a"], "shape": "b"})"}) {
    EXPECT_THAT(refusal(with(wrong)), ::testing::HasSubstr("delegation")) << wrong;
  }
}

}  // namespace
}  // namespace tandem
