#pragma once

#include "base/result.h"
#include "formats/model_file.h"

namespace tandem {

/// Reads every tensor once and fails at the first value, or scale of a block, that is NaN or
/// infinite, naming tensor, row and element. Errors: kNumeric.
Result<void> check_weights_finite(const ModelFile& file);

}  // namespace tandem
