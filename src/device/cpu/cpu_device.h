#pragma once

#include <memory>
#include <optional>

#include "device/compile_cache.h"
#include "device/cpu/linear_arithmetic.h"
#include "device/device.h"
#include "kernels/isa.h"

namespace tandem {

struct CpuOptions {
  /// Threads that compute, the caller included; 0: one per usable processor.
  int n_threads = 0;
  /// Forces a row of the kernel tables; it must be one this processor can run.
  std::optional<kernels::Isa> isa = std::nullopt;
  /// Packed weights are kept here and not packed again; null: nowhere.
  std::shared_ptr<CompileCache> compile_cache = nullptr;
};

/// The best row of the kernel tables for this processor.
kernels::Isa best_isa();
/// Whether this processor can run the row.
bool can_run(kernels::Isa isa);
/// Errors: kInvalidArgument listing the names.
Result<kernels::Isa> isa_from_name(const std::string& name);

/// The processor: always there, runs every node, defines what is correct.
/// Errors: kInvalidArgument for a thread count out of range, kUnsupported for an ISA row that this
/// processor cannot run.
Result<std::unique_ptr<Device>> make_cpu_device(const CpuOptions& options = {});

/// A second view of a processor that make_cpu_device made: the same threads, scratch and packed
/// weights, but linears in the arithmetic asked for. What simulated devices compute with.
std::unique_ptr<Device> share_cpu_device(const Device& cpu, ArithmeticOf arithmetic);

}  // namespace tandem
