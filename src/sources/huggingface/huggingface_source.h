#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sources/open_weight_source.h"
#include "sources/stored_tensor.h"

namespace tandem {

/// Opens a Hugging Face model folder: config.json, generation_config.json, the tokenizer's files
/// and the safetensors. Errors name the file and tensor: one that is missing, misshapen, of a type
/// that holds no weights, or that the architecture has no use for.
Result<std::unique_ptr<const WeightSource>> open_huggingface_folder(
    const std::string& folder, const WeightSourceOptions& options = {});

}  // namespace tandem
