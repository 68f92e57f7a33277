// The processor behind the device contract, on every instruction set of this machine.

#include <gtest/gtest.h>

#include "device/cpu/cpu_device.h"
#include "device/forwarding_device.h"
#include "tests/conformance/conformance.h"

namespace tandem::testing {
namespace {

TEST(CpuConformance, EveryOpOnEveryInstructionSetGivesTheScalarBits) {
  for (int i = 0; i < kernels::kIsaCount; ++i) {
    const auto isa = static_cast<kernels::Isa>(i);
    if (!can_run(isa)) continue;
    auto device = make_cpu_device({.n_threads = 2, .isa = isa});
    ASSERT_TRUE(device);
    for (const OpCase& c : all_op_cases()) {
      const CaseResult result = check_case(**device, c, kDefaultBound);
      EXPECT_EQ(result.verdict, Verdict::kRight)
          << kernels::to_string(isa) << ", " << result.name << ": " << result.detail;
    }
  }
}

TEST(CpuConformance, BehavesAsTheContractSays) {
  auto device = make_cpu_device({.n_threads = 2});
  ASSERT_TRUE(device);
  check_behaviour(**device);
}

/// Adds one to the first element of everything it computes.
class WrongDevice : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  Result<std::unique_ptr<Executable>> compile(const Graph& graph, NodeRange segment,
                                              const StepShape& shape,
                                              const WorkspaceLayout& layout) override {
    const Node& last = graph.nodes[segment.first + segment.count - 1];
    offset_ = layout.offsets[*last.output];
    return inner().compile(graph, segment, shape, layout);
  }
  Event enqueue(const Executable& executable, const Bindings& bindings,
                std::span<const Event> after) override {
    const Event done = inner().enqueue(executable, bindings, after);
    *reinterpret_cast<float*>(bindings.workspace + offset_) += 1;
    return done;
  }

 private:
  uint64_t offset_ = 0;
};

TEST(Conformance, ADeviceThatIsWrongFailsEveryCase) {
  WrongDevice device(std::move(*make_cpu_device({.n_threads = 1})));
  for (const OpCase& c : all_op_cases()) {
    EXPECT_EQ(check_case(device, c, kDefaultBound).verdict, Verdict::kWrong) << c.name;
  }
}

}  // namespace
}  // namespace tandem::testing
