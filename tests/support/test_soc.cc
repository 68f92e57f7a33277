#include "tests/support/test_soc.h"

namespace tandem::testing {

using soc::NumericType;

std::shared_ptr<const soc::SocProfile> make_test_soc(NumericType activations,
                                                     soc::ActivationScale scale) {
  soc::SocProfile out;
  out.name = "test-soc";
  out.title = "A made-up chip";
  out.dram = {8e9, 50e9, 40e9, 60e-12};
  out.cpu.clusters.push_back({.name = "only",
                              .cores = 1,
                              .clock_hz = 1e6,
                              .macs_per_cycle = {{NumericType::kInt8, 16},
                                                 {NumericType::kFp16, 8},
                                                 {NumericType::kFp32, 4}},
                              .max_bytes_per_s = 1e9,
                              .watts_per_core = 1});
  out.cpu.max_bytes_per_s = 1e9;
  out.cpu.node_overhead_s = 1e-6;
  out.cpu.joules_per_mac = 1e-12;
  soc::NpuProfile npu;
  npu.name = "test-npu";
  npu.driver = "1.0";
  npu.array.rows = npu.array.columns = 16;
  npu.array.clock_hz = 1e9;
  npu.array.rates = {{NumericType::kInt8, NumericType::kInt8, 1},
                     {NumericType::kInt16, NumericType::kInt8, 2},
                     {NumericType::kFp8, NumericType::kFp8, 1},
                     {NumericType::kFp16, NumericType::kFp16, 4},
                     {NumericType::kBf16, NumericType::kBf16, 4}};
  npu.vector.clock_hz = 1e9;
  npu.vector.lanes = 64;
  npu.dma = {.channels = 2, .max_bytes_per_s = 30e9, .latency_s = 1e-7};
  npu.sram_bytes = 512 * 1024;
  npu.launch_s = 1e-5;
  npu.limits.static_shapes = true;
  npu.limits.buckets = {4, 8, 16};
  for (int i = 0; i < kOpCount; ++i) {
    soc::OperatorRule rule{};
    rule.op = static_cast<Op>(i);
    rule.activations = {activations};
    rule.activation_scale = scale;
    rule.weights = {NumericType::kInt2, NumericType::kInt4, NumericType::kInt8};
    if (!soc::is_integer(activations)) {
      rule.weights.push_back(NumericType::kFp8);
      rule.weights.push_back(NumericType::kFp16);
      rule.weights.push_back(NumericType::kBf16);
    }
    npu.operators.push_back(std::move(rule));
  }
  npu.power_states = {{.name = "on", .kind = soc::PowerKind::kActive, .watts = 0.5}};
  npu.joules_per_mac = {{activations, 1e-12}};
  npu.joules_per_vector_op = 1e-12;
  npu.joules_per_sram_byte = 1e-12;
  out.npus.push_back(std::move(npu));
  out.board_watts = 0.5;
  return std::make_shared<const soc::SocProfile>(std::move(out));
}

EngineOptions on_soc(std::shared_ptr<const soc::SocProfile> profile, const NpuSimOptions& npu,
                     const SafetyOptions& safety) {
  EngineOptions out{.context = 64, .n_threads = 2, .prefill_chunk = 16, .max_sequences = 1};
  out.devices = [profile = std::move(profile),
                 npu](std::unique_ptr<Device> cpu) -> Result<std::vector<std::unique_ptr<Device>>> {
    return make_soc_devices(profile, std::move(cpu), npu);
  };
  out.safety = safety;
  return out;
}

EngineOptions on_test_soc(const NpuSimOptions& npu, const SafetyOptions& safety,
                          NumericType activations) {
  return on_soc(make_test_soc(activations), npu, safety);
}

}  // namespace tandem::testing
