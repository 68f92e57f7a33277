// Devices that fail, or are wrong: the text does not suffer, and the report says so.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "device/cpu/cpu_device.h"
#include "device/forwarding_device.h"
#include "soc/profile_reader.h"
#include "tests/support/test_soc.h"
#include "tests/support/tiny_model.h"

namespace tandem::testing {
namespace {

constexpr size_t kPrompt = 21;  // a bucket of 16 and one of 8 with padding on the made-up chip
constexpr size_t kGenerated = 8;

using Logits = std::vector<std::vector<float>>;

std::shared_ptr<const Model> quantized_model() {
  static const auto model = make_tiny_model(tiny_shape("qwen3"), DType::kQ8_0);
  return model;
}

Logits run(const std::shared_ptr<Engine>& engine, size_t n_prompt = kPrompt, uint64_t seed = 1) {
  return greedy_logits(engine, some_tokens(n_prompt, seed), kGenerated);
}

Logits on_cpu(size_t n_prompt = kPrompt, uint64_t seed = 1) {
  return run(make_engine(quantized_model()), n_prompt, seed);
}

std::shared_ptr<const soc::SocProfile> profile_named(const std::string& name) {
  auto profile = soc::find_profile(name);
  EXPECT_TRUE(profile) << profile.error().message;
  return std::make_shared<const soc::SocProfile>(std::move(*profile));
}

/// Profiles whose NPUs compute quantized linears as the processor does: the same text to the bit.
bool has_the_processors_arithmetic(const std::string& soc) {
  const std::set<std::string> names = {"snapdragon-8-gen-2",   "snapdragon-8-gen-3",
                                       "snapdragon-8-elite",   "rk3588",
                                       "cortex-m85-ethos-u85", "what-if-pim"};
  return names.contains(soc);
}

std::vector<std::string> socs_with_npu() {
  std::vector<std::string> out;
  for (const std::string& name : soc::builtin_profile_names()) {
    if (!profile_named(name)->npus.empty()) out.push_back(name);
  }
  return out;
}

/// Everything that the NPU supports runs there, a launch each: plans of so small a model would
/// rather stay on some processors.
EngineOptions all_on_npu(const std::string& soc, const NpuSimOptions& npu = {},
                         const SafetyOptions& safety = {}) {
  EngineOptions out = on_soc(profile_named(soc), npu, safety);
  out.plan.policy = Policy::kPerNode;
  return out;
}

std::string test_name(std::string text) {
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

struct FaultCase {
  std::string soc;  ///< empty: the made-up chip
  FaultKind kind;
  Phase phase;
  uint32_t after;
};

std::string case_name(const ::testing::TestParamInfo<FaultCase>& info) {
  const FaultCase& c = info.param;
  return test_name(fmt::format("{}_{}_in_{}_after_{}", c.soc.empty() ? "test" : c.soc,
                               to_string(c.kind), to_string(c.phase), c.after));
}

class FaultMatrix : public ::testing::TestWithParam<FaultCase> {};

TEST_P(FaultMatrix, TheProcessorGoesOnWithTheSameOutput) {
  const FaultCase& c = GetParam();
  const NpuSimOptions npu{.fault = Fault{c.kind, c.phase, c.after}};
  const SafetyOptions safety{.deadline_seconds = 0.1, .check_every = 1};
  const auto engine = make_engine(
      quantized_model(), c.soc.empty() ? on_test_soc(npu, safety) : all_on_npu(c.soc, npu, safety));
  const Logits found = run(engine);
  ASSERT_EQ(found.size(), kGenerated + 1);
  if (c.soc.empty() || has_the_processors_arithmetic(c.soc)) {
    EXPECT_EQ(found, on_cpu());
  }
  const auto incidents = engine->incidents();
  ASSERT_EQ(incidents.size(), 1u);
  EXPECT_EQ(incidents[0].device, "npu");
  EXPECT_EQ(incidents[0].phase, c.phase);
  EXPECT_EQ(incidents[0].reason.code, c.kind == FaultKind::kWrongResult
                                          ? ReasonCode::kAccuracyCheckFailed
                                          : ReasonCode::kDeviceFailed);
  EXPECT_EQ(incidents[0].suspect_from, incidents[0].position) << "nothing wrong was used";
  EXPECT_FALSE(incidents[0].reason.sentence.empty());
}

std::vector<FaultCase> fault_cases(const std::string& soc) {
  std::vector<FaultCase> out;
  for (auto kind :
       {FaultKind::kHang, FaultKind::kError, FaultKind::kWrongResult, FaultKind::kLost}) {
    for (auto phase : {Phase::kPrefill, Phase::kDecode}) {
      for (uint32_t after : {0, 1}) out.push_back({soc, kind, phase, after});
    }
  }
  out.push_back({soc, FaultKind::kOutOfMemory, Phase::kPrefill, 0});
  out.push_back({soc, FaultKind::kOutOfMemory, Phase::kDecode, 0});
  return out;
}

std::vector<FaultCase> fault_cases_on_profiles() {
  std::vector<FaultCase> out;
  for (const std::string& soc : socs_with_npu()) {
    const auto cases = fault_cases(soc);
    out.insert(out.end(), cases.begin(), cases.end());
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(MadeUpChip, FaultMatrix, ::testing::ValuesIn(fault_cases("")), case_name);
INSTANTIATE_TEST_SUITE_P(Profiles, FaultMatrix, ::testing::ValuesIn(fault_cases_on_profiles()),
                         case_name);

class OnProfile : public ::testing::TestWithParam<std::string> {};

TEST_P(OnProfile, ARightDevicePassesEveryCheckAndKeepsTheProcessorsTextWhereItPromises) {
  const auto unchecked =
      make_engine(quantized_model(), all_on_npu(GetParam(), {}, {.check_every = 0}));
  const auto checked =
      make_engine(quantized_model(), all_on_npu(GetParam(), {}, {.check_every = 1}));
  const Logits found = run(checked);
  EXPECT_EQ(found, run(unchecked));
  EXPECT_TRUE(checked->incidents().empty());
  EXPECT_EQ(found == on_cpu(), has_the_processors_arithmetic(GetParam()));
}

TEST_P(OnProfile, ASampledCheckFindsAWrongResultWithinTheInterval) {
  constexpr uint32_t kEvery = 4;
  // The first two steps are checked in any case; what goes wrong in the third is found in the
  // fifth.
  const auto probe = make_engine(quantized_model(), all_on_npu(GetParam()));
  uint32_t n_segments = 0;
  for (const Segment& s : probe->plan().phase(Phase::kDecode).segments) {
    n_segments += s.device == "npu";
  }
  ASSERT_GT(n_segments, 0u);
  const Fault fault{FaultKind::kWrongResult, Phase::kDecode, 2 * n_segments};
  const auto engine = make_engine(
      quantized_model(), all_on_npu(GetParam(), {.fault = fault}, {.check_every = kEvery}));
  run(engine);
  const auto incidents = engine->incidents();
  ASSERT_EQ(incidents.size(), 1u);
  EXPECT_EQ(incidents[0].reason.code, ReasonCode::kAccuracyCheckFailed);
  EXPECT_EQ(incidents[0].suspect_from, kPrompt + 2);
  EXPECT_EQ(incidents[0].position, kPrompt + kEvery);
}

INSTANTIATE_TEST_SUITE_P(Profiles, OnProfile, ::testing::ValuesIn(socs_with_npu()),
                         [](const auto& info) { return test_name(info.param); });

/// A vendor's device: no promise about bits, and behaviour that a test bends. It computes with the
/// processor.
class VendorDevice : public ForwardingDevice {
 public:
  explicit VendorDevice(std::unique_ptr<Device> cpu)
      : ForwardingDevice(std::move(cpu)), facts_(inner().describe()) {
    facts_.name = "vendor";
    facts_.host = false;
  }
  const Capabilities& describe() const override { return facts_; }
  Result<std::unique_ptr<Executable>> compile(const Graph& graph, NodeRange segment,
                                              const StepShape& shape,
                                              const WorkspaceLayout& layout) override {
    TANDEM_TRY(auto made, inner().compile(graph, segment, shape, layout));
    logits_width_ = graph.values[graph.logits].width;
    return std::make_unique<VendorExecutable>(std::move(made));
  }
  Event enqueue(const Executable& executable, const Bindings& bindings,
                std::span<const Event> after) override {
    const auto& e = static_cast<const VendorExecutable&>(executable);
    const Event done = inner().enqueue(*e.inner, bindings, after);
    bend(bindings);
    return done;
  }

 protected:
  virtual void bend(const Bindings& bindings) = 0;
  std::span<float> logits_of(const Bindings& b) const {
    return {b.logits, b.logits == nullptr ? 0 : b.output_rows.size() * logits_width_};
  }

 private:
  struct VendorExecutable : Executable {
    explicit VendorExecutable(std::unique_ptr<Executable> inner) : inner(std::move(inner)) {}
    uint64_t weight_bytes() const override { return inner->weight_bytes(); }
    std::unique_ptr<Executable> inner;
  };

  Capabilities facts_;
  size_t logits_width_ = 0;
};

/// Right below 32 rows, noise from there on (llama.cpp issue 24201).
class NoisyFrom32 : public VendorDevice {
 public:
  using VendorDevice::VendorDevice;

 private:
  void bend(const Bindings& b) override {
    if (b.tokens.size() < 32) return;
    uint32_t state = 1;
    for (float& x : logits_of(b)) {
      state = state * 1664525 + 1013904223;
      x = static_cast<float>(state >> 8) / (1 << 24);
    }
  }
};

/// Tells for ever what it computed first (executorch issue 22061).
class IgnoresItsInput : public VendorDevice {
 public:
  using VendorDevice::VendorDevice;

 private:
  void bend(const Bindings& b) override {
    const auto logits = logits_of(b);
    if (first_.empty()) first_.assign(logits.begin(), logits.end());
    std::copy_n(first_.begin(), std::min(first_.size(), logits.size()), logits.begin());
  }

  std::vector<float> first_;
};

/// Everything pinned to a vendor's device beside the processor.
template <class Vendor>
std::shared_ptr<Engine> with_vendor() {
  EngineOptions options{.context = 64, .n_threads = 2, .prefill_chunk = 64, .max_sequences = 1};
  options.devices =
      [](std::unique_ptr<Device> cpu) -> Result<std::vector<std::unique_ptr<Device>>> {
    std::vector<std::unique_ptr<Device>> out;
    out.push_back(std::make_unique<Vendor>(share_cpu_device(*cpu, {})));
    out.push_back(std::move(cpu));
    return out;
  };
  options.plan.pins = {{"*", "vendor"}};
  return make_engine(quantized_model(), options);
}

TEST(FieldReportH06, ADeviceThatIsWrongFromSomeBatchSizeOnIsFoundWhenThatSizeIsFirstUsed) {
  const auto engine = with_vendor<NoisyFrom32>();
  for (size_t n : {1, 16, 31}) {
    EXPECT_EQ(run(engine, n), on_cpu(n)) << n << " tokens";
    EXPECT_TRUE(engine->incidents().empty()) << n << " tokens";
  }
  EXPECT_EQ(run(engine, 32), on_cpu(32));
  const auto incidents = engine->incidents();
  ASSERT_EQ(incidents.size(), 1u);
  EXPECT_EQ(incidents[0].device, "vendor");
  EXPECT_EQ(incidents[0].reason.code, ReasonCode::kAccuracyCheckFailed);
  EXPECT_EQ(run(engine, 48), on_cpu(48));
}

TEST(FieldReportH06, ADeviceThatIgnoresItsInputIsFoundWithTheSecondPrompt) {
  const auto engine = with_vendor<IgnoresItsInput>();
  EXPECT_EQ(run(engine, 20, 1), on_cpu(20, 1));
  EXPECT_EQ(run(engine, 20, 2), on_cpu(20, 2));
  const auto incidents = engine->incidents();
  ASSERT_EQ(incidents.size(), 1u);
  EXPECT_EQ(incidents[0].reason.code, ReasonCode::kAccuracyCheckFailed);
}

}  // namespace
}  // namespace tandem::testing
