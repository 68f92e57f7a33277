#pragma once

#include "device/compile_cache.h"
#include "graph/graph.h"

namespace tandem {

enum class WeightPlane { kHigh, kLow };

/// What a plane of packed weights depends on: layout, shape, and which bytes of which model file.
/// Its path is left out: a model that was moved is the same model. `weight` lies in a file; the low
/// plane is that of a nested weight.
CompileKey packed_key(const Weight& weight, WeightPlane plane);

}  // namespace tandem
