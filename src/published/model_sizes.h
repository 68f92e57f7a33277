#pragma once

#include <string_view>

#include "base/result.h"
#include "soc/model_work.h"

namespace tandem::published {

/// Sizes of a model by its published name; case, and endings such as "-Instruct", do not matter.
/// Errors: kInvalidArgument when the model is not known.
Result<soc::ModelSizes> find_sizes(std::string_view name);

}  // namespace tandem::published
