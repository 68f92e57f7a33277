#pragma once

#include <memory>

#include "device/npu_sim/npu_sim_device.h"
#include "engine/engine.h"
#include "soc/profile.h"

namespace tandem::testing {

/// A made-up chip: a slow processor and an NPU that takes every op, with linears in `activations`,
/// integer ones with scales of that kind.
/// Static shapes of 4, 8 and 16 rows; half a mebibyte of SRAM.
std::shared_ptr<const soc::SocProfile> make_test_soc(
    soc::NumericType activations = soc::NumericType::kInt8,
    soc::ActivationScale scale = soc::ActivationScale::kDynamic);

/// Engine options with the devices of a chip: one session of 64 positions, chunks of 16.
EngineOptions on_soc(std::shared_ptr<const soc::SocProfile> profile, const NpuSimOptions& npu = {},
                     const SafetyOptions& safety = {});

/// The same with make_test_soc's.
EngineOptions on_test_soc(const NpuSimOptions& npu = {}, const SafetyOptions& safety = {},
                          soc::NumericType activations = soc::NumericType::kInt8);

}  // namespace tandem::testing
