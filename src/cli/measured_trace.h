#pragma once

#include "cli/model_flags.h"
#include "planner/prediction.h"
#include "planner/trace.h"

namespace tandem::cli {

/// Runs a workload of random tokens on this machine and notes when each step began and each of its
/// linears: lanes "steps", "layers" and "linears". A box on the last two goes on until the next one
/// begins, so that it holds what follows the linear too; linears of one input are one box.
Result<Trace> measure_trace(const ModelFlags& flags, const Workload& workload);

}  // namespace tandem::cli
