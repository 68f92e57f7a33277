#pragma once

#include "evaluation/baseline.h"

namespace tandem::cli {

/// Plans every shape on every built-in profile and adds what was delegated: section
/// "SHAPE on PROFILE", figures "prefill nodes", "prefill MACs %", "prefill bytes %" and the same of
/// decode. Errors: an unknown shape or type.
Result<void> add_delegation(const DelegationRequest& request, MetricValues& out);

}  // namespace tandem::cli
