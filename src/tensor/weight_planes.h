#pragma once

#include <cstdint>

namespace tandem {

/// How many planes of nested weights a step reads (docs/nested_format.md). Other weights have one
/// reading only.
enum class WeightPlanes : uint8_t {
  kHigh,  ///< w = s h: INT4
  kBoth,  ///< w = s (h + l 2^-e): INT8
};

}  // namespace tandem
