#include "device/reason.h"

namespace tandem {

const char* to_string(ReasonCode code) {
  switch (code) {
    case ReasonCode::kUnsupportedOp:
      return "unsupported_op";
    case ReasonCode::kUnsupportedDtype:
      return "unsupported_dtype";
    case ReasonCode::kDynamicShape:
      return "dynamic_shape";
    case ReasonCode::kNotQuantized:
      return "not_quantized";
    case ReasonCode::kAlignment:
      return "alignment";
    case ReasonCode::kExceedsSram:
      return "exceeds_sram";
    case ReasonCode::kExceedsContextMemory:
      return "exceeds_context_memory";
    case ReasonCode::kDriverTooOld:
      return "driver_too_old";
    case ReasonCode::kAccuracyCheckFailed:
      return "accuracy_check_failed";
    case ReasonCode::kDeviceFailed:
      return "device_failed";
    case ReasonCode::kCost:
      return "cost";
    case ReasonCode::kPinnedByUser:
      return "pinned_by_user";
  }
  return "unknown";
}

}  // namespace tandem
