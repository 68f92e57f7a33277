#pragma once

#include <cstdint>
#include <span>

#include "base/token_id.h"

namespace tandem {

/// What one pass over the logits finds.
struct LogitScan {
  TokenId best = -1;        ///< lowest id of the largest logit; -1 if all are minus infinity or NaN
  float max = 0;            ///< its logit
  bool all_finite = false;  ///< no NaN and no infinity anywhere
};
LogitScan scan_logits(std::span<const float> logits);

/// Index of the first NaN or infinity, or logits.size().
size_t first_non_finite(std::span<const float> logits);

}  // namespace tandem
