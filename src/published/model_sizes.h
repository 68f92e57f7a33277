#pragma once

#include <string_view>

#include "base/result.h"
#include "soc/model_work.h"

namespace tandem::published {

/// Sizes of a model by its published name; case, separators, and endings such as "-Instruct" do not
/// matter. Errors: kInvalidArgument when the model is not known.
Result<soc::ModelSizes> find_sizes(std::string_view name);

/// For a model that is not known: the sizes of the known one nearest in weights, with as many
/// layers as make up `n_weights`.
soc::ModelSizes guess_sizes(double n_weights);

}  // namespace tandem::published
