#pragma once

#include "formats/model_file.h"
#include "formats/weight_source.h"

namespace tandem {

/// A source as a model file to run: tensors that lie mapped are viewed, all others are read into
/// memory once, in their exact types. Errors: kOutOfMemory, and those of reading.
Result<ModelFile> model_file_of(const WeightSource& source);

}  // namespace tandem
