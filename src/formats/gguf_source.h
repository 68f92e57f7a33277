#pragma once

#include <memory>

#include "formats/model_file.h"
#include "formats/weight_source.h"

namespace tandem {

/// An opened GGUF model as a source of weights: every tensor is mapped and read where it lies.
std::unique_ptr<const WeightSource> make_gguf_source(ModelFile file);

}  // namespace tandem
