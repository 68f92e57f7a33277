#pragma once

#include <string>

#include "model/model.h"

namespace tandem {

/// Which planes of nested weights a user's word asks for: "int4", "int8", or empty for what the
/// file holds. Errors: kInvalidArgument for another word, for a word about a file whose weights
/// have one reading only, and for "int8" when the low planes are gone.
Result<WeightPlanes> choose_planes(const std::string& precision, const Model& model);

}  // namespace tandem
