#pragma once

#include <memory>

#include "model/model.h"
#include "synth/shapes.h"
#include "synth/weight_types.h"

namespace tandem {

/// A model of that shape whose weights take no memory and no file: every byte of them is zero. Good
/// for plans and listings, which look at sizes only. Without a tokenizer. Errors: kIo when the
/// system has no address space of that size.
Result<std::shared_ptr<const Model>> weightless_model(const ModelShape& shape,
                                                      const WeightTypes& types);

}  // namespace tandem
