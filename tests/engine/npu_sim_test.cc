// A model over a processor and a virtual NPU: the same tokens as the processor alone.

#include <gtest/gtest.h>

#include "device/forwarding_device.h"
#include "tests/support/resident_memory.h"
#include "tests/support/test_soc.h"
#include "tests/support/tiny_model.h"

namespace tandem::testing {
namespace {

constexpr size_t kPrompt = 21;  // a bucket of 16 and one of 8 with padding
constexpr size_t kGenerated = 8;

std::shared_ptr<const Model> quantized_model() {
  static const auto model = make_tiny_model(tiny_shape("qwen3"), DType::kQ8_0);
  return model;
}

std::vector<std::vector<float>> run(const std::shared_ptr<Engine>& engine,
                                    size_t n_prompt = kPrompt) {
  return greedy_logits(engine, some_tokens(n_prompt), kGenerated);
}

std::vector<std::vector<float>> on_cpu(size_t n_prompt = kPrompt) {
  return run(make_engine(quantized_model()), n_prompt);
}

size_t n_delegated_segments(const Engine& engine) {
  size_t out = 0;
  for (const PhasePlan& phase : engine.plan().phases) {
    for (const Segment& s : phase.segments) out += s.device == "npu";
  }
  return out;
}

TEST(NpuSim, DelegatesAndGivesTheProcessorsBits) {
  const auto engine = make_engine(quantized_model(), on_test_soc());
  EXPECT_GE(n_delegated_segments(*engine), 2u);
  EXPECT_EQ(run(engine), on_cpu());
  EXPECT_TRUE(engine->incidents().empty());
  EXPECT_TRUE(engine->is_simulated());
  EXPECT_GT(engine->simulated().seconds, 0);
  EXPECT_GT(engine->simulated().joules, 0);
}

TEST(NpuSim, AsynchronousExecutionsGiveTheSame) {
  const auto engine = make_engine(quantized_model(), on_test_soc({.asynchronous = true}));
  EXPECT_EQ(run(engine), on_cpu());
}

// Prompts around multiples of a compiled size (mllm issue 266 and its kin).
TEST(NpuSim, FieldReportH07PromptsAroundBucketSizesMatchTheProcessor) {
  const auto engine = make_engine(quantized_model(), on_test_soc());
  for (size_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49}) {
    EXPECT_EQ(run(engine, n), on_cpu(n)) << n << " tokens";
  }
}

/// int8 must give the processor's bits; f16 over f16 weights differs from it by rounding only.
TEST(NpuSim, SelfChecksOfARightDeviceFindNothing) {
  const auto floats = make_tiny_model(tiny_shape("qwen3"), DType::kF16);
  for (auto type : {soc::NumericType::kInt8, soc::NumericType::kFp16}) {
    const auto& model = type == soc::NumericType::kInt8 ? quantized_model() : floats;
    const auto unchecked = make_engine(model, on_test_soc({}, {}, type));
    const auto checked = make_engine(model, on_test_soc({}, {.check_every = 1}, type));
    EXPECT_EQ(run(checked), run(unchecked)) << soc::to_string(type);
    EXPECT_TRUE(checked->incidents().empty()) << soc::to_string(type);
  }
}

uint64_t copied_by(const MemoryUse& use) { return use.access == Access::kCopied ? use.bytes : 0; }

TEST(NpuSim, NoCacheByteIsCopiedForADecodedToken) {
  const auto engine = make_engine(quantized_model(), on_test_soc());
  run(engine);
  const auto memory = engine->memory();
  ASSERT_EQ(memory.size(), 2u) << "workspace and one session's cache";
  EXPECT_EQ(memory[1].owner, "cache");
  EXPECT_EQ(memory[1].bytes, engine->plan().state_bytes);
  for (const MemoryUse& use : memory) EXPECT_EQ(copied_by(use), 0u) << use.owner;
  EXPECT_EQ(engine->copied_state_bytes(), 0u);
  EXPECT_EQ(engine->plan().phase(Phase::kDecode).copied_bytes, 0u);
}

/// Says that it copies.
class CopyingDevice : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  Result<Access> import(std::span<const std::byte>) override { return Access::kCopied; }
};

TEST(NpuSim, CopiesOfTheCacheAreCounted) {
  EngineOptions options = on_test_soc();
  options.devices =
      [inner = options.devices](
          std::unique_ptr<Device> cpu) -> Result<std::vector<std::unique_ptr<Device>>> {
    TANDEM_TRY(auto devices, inner(std::move(cpu)));
    devices[0] = std::make_unique<CopyingDevice>(std::move(devices[0]));
    return devices;
  };
  const auto engine = make_engine(quantized_model(), options);
  run(engine);
  EXPECT_GT(engine->copied_state_bytes(), 0u);
}

TEST(NpuSim, TwoDevicesHoldOneCopyOfTheWeights) {
  ModelShape shape = tiny_shape("qwen3");
  shape.width = 512;
  shape.ffn_width = 8192;
  const auto model = make_tiny_model(shape, DType::kQ8_0);  // 40 MB of weights
  const auto cpu_only = make_engine(model);
  const uint64_t before = resident_bytes();
  const auto shared = make_engine(model, on_test_soc({}, {.check_every = 1}));
  const uint64_t with_both = resident_bytes() - before;
  const uint64_t weights = shared->plan().weight_bytes;
  ASSERT_GT(weights, uint64_t{30} << 20);
  // Both devices of the second engine run every linear: once packed, not twice.
  EXPECT_LT(with_both, weights + weights / 2);
}

TEST(NpuSim, WithoutAFaultLaterSessionsUseTheNpuWithOneTheyDoNot) {
  const auto engine = make_engine(
      quantized_model(), on_test_soc({.fault = Fault{FaultKind::kError, Phase::kPrefill, 0}}));
  run(engine);
  const double first = engine->simulated().seconds;
  EXPECT_EQ(run(engine), on_cpu());
  EXPECT_EQ(engine->incidents().size(), 1u);
  const auto good = make_engine(quantized_model(), on_test_soc());
  run(good);
  EXPECT_GT(first, 10 * good->simulated().seconds) << "time is the processor's";
}

}  // namespace
}  // namespace tandem::testing
