// Decode linears whose rows the host and an NPU compute at the same time.

#include <gtest/gtest.h>

#include "tests/support/resident_memory.h"
#include "tests/support/test_soc.h"
#include "tests/support/tiny_model.h"

namespace tandem::testing {
namespace {

constexpr size_t kPrompt = 21;
constexpr size_t kGenerated = 8;

std::shared_ptr<const Model> quantized_model() {
  static const auto model = make_tiny_model(tiny_shape("qwen3"), DType::kQ8_0);
  return model;
}

/// A chip whose processor and NPU each draw half of what the memory gives, with cheap launches.
std::shared_ptr<const soc::SocProfile> balanced_soc(double launch_seconds = 1e-7,
                                                    double sram_bytes = 32 * 1024) {
  soc::SocProfile out = *make_test_soc();
  out.dram.usable_bytes_per_s = 40e9;
  out.cpu.max_bytes_per_s = out.cpu.clusters[0].max_bytes_per_s = 20e9;
  out.cpu.clusters[0].clock_hz = 1e12;
  out.cpu.node_overhead_s = 1e-8;
  out.npus[0].array.clock_hz = out.npus[0].vector.clock_hz = 1e12;  // memory decides
  out.npus[0].dma.max_bytes_per_s = 20e9;
  out.npus[0].dma.latency_s = 1e-9;
  out.npus[0].sram_bytes = sram_bytes;
  out.npus[0].launch_s = launch_seconds;
  return std::make_shared<const soc::SocProfile>(std::move(out));
}

std::vector<Segment> splits_of(const Engine& engine) {
  std::vector<Segment> out;
  for (const Segment& s : engine.plan().phase(Phase::kDecode).segments) {
    if (s.split) out.push_back(s);
  }
  return out;
}

std::vector<std::vector<float>> run(const std::shared_ptr<Engine>& engine) {
  return greedy_logits(engine, some_tokens(kPrompt), kGenerated);
}

std::vector<std::vector<float>> on_cpu() { return run(make_engine(quantized_model())); }

TEST(RowSplit, BothUnitsStreamAWideLinearAndGiveTheProcessorsBits) {
  const auto engine =
      make_engine(quantized_model(), on_soc(balanced_soc(), {}, {.check_every = 1}));
  const auto splits = splits_of(*engine);
  ASSERT_GE(splits.size(), 1u);
  const Graph& graph = engine->graph(Phase::kDecode);
  EXPECT_EQ(graph.nodes[splits.back().nodes.first].name, "logits");
  EXPECT_EQ(run(engine), on_cpu());
  EXPECT_TRUE(engine->incidents().empty());
}

TEST(RowSplit, ThePlanIsFasterForItByItsOwnFigures) {
  EngineOptions apart = on_soc(balanced_soc());
  apart.plan.pins = {{"logits", "npu"}};
  const auto shared = make_engine(quantized_model(), on_soc(balanced_soc()));
  const auto pinned = make_engine(quantized_model(), apart);
  ASSERT_GE(splits_of(*shared).size(), 1u);
  for (const Segment& s : splits_of(*pinned)) {
    EXPECT_NE(pinned->graph(Phase::kDecode).nodes[s.nodes.first].name, "logits");
  }
  EXPECT_LT(shared->plan().phase(Phase::kDecode).predicted.seconds,
            pinned->plan().phase(Phase::kDecode).predicted.seconds);
}

TEST(RowSplit, DearLaunchesKeepLinearsWhole) {
  const auto engine = make_engine(quantized_model(), on_soc(balanced_soc(1e-3)));
  EXPECT_TRUE(splits_of(*engine).empty());
}

class RowSplitFaults : public ::testing::TestWithParam<FaultKind> {};

TEST_P(RowSplitFaults, TheProcessorTakesTheWholeLinearOver) {
  const auto engine = make_engine(
      quantized_model(), on_soc(balanced_soc(), {.fault = Fault{GetParam(), Phase::kDecode, 3}},
                                {.deadline_seconds = 0.2, .check_every = 1}));
  ASSERT_GE(splits_of(*engine).size(), 1u);
  EXPECT_EQ(run(engine), on_cpu());
  EXPECT_EQ(engine->incidents().size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RowSplitFaults,
                         ::testing::Values(FaultKind::kHang, FaultKind::kError,
                                           FaultKind::kWrongResult, FaultKind::kLost),
                         [](const auto& info) {
                           return "kind_" + std::to_string(static_cast<int>(info.param));
                         });

TEST(RowSplit, SharesAreNoSecondCopyOfTheWeight) {
  ModelShape shape = tiny_shape("qwen3");
  shape.width = 512;
  shape.vocabulary = 65536;  // a head of 36 MB
  const auto model = make_tiny_model(shape, DType::kQ8_0);
  const auto cpu_only = make_engine(model);
  const uint64_t before = resident_bytes();
  // One row of the head, in and out, has to fit half the SRAM.
  const auto shared = make_engine(model, on_soc(balanced_soc(1e-7, 1 << 20)));
  const uint64_t grown = resident_bytes() - before;
  ASSERT_GE(splits_of(*shared).size(), 1u);
  const uint64_t weights = shared->plan().weight_bytes;
  ASSERT_GT(weights, uint64_t{30} << 20);
  EXPECT_LT(grown, weights + weights / 2);
}

}  // namespace
}  // namespace tandem::testing
