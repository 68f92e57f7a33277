#pragma once

#include "base/thread_pool.h"
#include "device/cpu/kernel_set.h"
#include "graph/node_work.h"

namespace tandem {

/// What this machine's kernels reach with these threads; the terms of the processor's estimates.
struct Roofline {
  double integer_macs_per_second = 0;  ///< linears over quantized weights, many rows
  double float_macs_per_second = 0;    ///< linears over F32 weights, and attention
  double bytes_per_second = 0;         ///< weights streamed by a linear of one row
  double elements_per_second = 0;      ///< element-wise nodes, in cache
  double node_seconds = 0;             ///< handing one node to the threads
};

/// Runs the kernels for about a quarter of a second. Errors: kOutOfMemory.
Result<Roofline> measure_roofline(const KernelSet& kernels, ThreadPool& pool);

/// The longer of computing and moving, plus the hand-out.
double seconds_for(const Roofline& roofline, const NodeWork& work, bool integer);

}  // namespace tandem
