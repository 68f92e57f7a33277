#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "device/compile_cache.h"
#include "device/device.h"
#include "device/npu_sim/fault.h"
#include "soc/profile.h"

namespace tandem {

struct NpuSimOptions {
  std::optional<Fault> fault = std::nullopt;
  /// Compiled segments are kept here and not compiled again; null: nowhere.
  std::shared_ptr<CompileCache> compile_cache = nullptr;
  /// Executions run on a thread of the device's own, as real ones do; for tests of events.
  bool asynchronous = false;
};

/// A virtual NPU (docs/npu_sim.md): results are computed for real with the processor's kernels,
/// time and energy come from the profile. `cpu` is a device of make_cpu_device and lends its
/// threads and weights; both must outlive the device. `index` counts the profile's NPUs. The first
/// is named "npu", later ones "npu2", "npu3".
std::unique_ptr<Device> make_npu_sim(std::shared_ptr<const soc::SocProfile> profile, size_t index,
                                     const Device& cpu, const NpuSimOptions& options = {});

/// `cpu` with the profile's clusters as its cost: functional results are the same, estimates are
/// simulated. Named "cpu".
std::unique_ptr<Device> make_soc_cpu(std::shared_ptr<const soc::SocProfile> profile,
                                     std::unique_ptr<Device> cpu);

/// The devices of a SoC in order of preference: its NPUs, then its processor.
std::vector<std::unique_ptr<Device>> make_soc_devices(
    std::shared_ptr<const soc::SocProfile> profile, std::unique_ptr<Device> cpu,
    const NpuSimOptions& options = {});

}  // namespace tandem
