#pragma once

#include "device/device.h"

namespace tandem {

/// Places every value of a graph in one workspace so that values which are alive at the same time
/// never overlap, and a node that may work in place writes over an input that nobody reads again.
/// First fit by order of definition; offsets are multiples of 64 bytes. The logits take no room:
/// the caller binds them.
WorkspaceLayout plan_workspace(const Graph& graph, const StepShape& shape);

}  // namespace tandem
