#pragma once

#include "cli/model_flags.h"
#include "planner/prediction.h"
#include "planner/trace.h"

namespace tandem::cli {

/// Runs a workload of random tokens on this machine and notes when each step began and when the
/// processor did each node: lanes "steps", "layers" and one for each op, so that the summary tells
/// what time every kind of node took. Linears of one input are one box, and coding that input is
/// another.
Result<Trace> measure_trace(const ModelFlags& flags, const Workload& workload);

}  // namespace tandem::cli
