#pragma once

#include <string>

namespace tandem {

/// Why a node may not run on a device; the closed list that reports and tests know.
enum class ReasonCode {
  kUnsupportedOp,
  kUnsupportedDtype,
  kDynamicShape,
  kNotQuantized,
  kAlignment,
  kExceedsSram,
  kExceedsContextMemory,
  kDriverTooOld,
  kAccuracyCheckFailed,
  kDeviceFailed,  ///< hung, failed, was lost or had no memory while it was used
  kCost,
  kPinnedByUser,
};

/// For JSON: "unsupported_op".
const char* to_string(ReasonCode code);

struct Reason {
  ReasonCode code;
  std::string sentence;  ///< with the values that decided
};

}  // namespace tandem
