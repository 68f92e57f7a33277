#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sources/stored_tensor.h"

namespace tandem {

/// Every tensor of the safetensors files of a model folder: of model.safetensors, else of the
/// shards that model.safetensors.index.json lists, else of the only *.safetensors. Errors:
/// kNotFound listing the shards that are missing, before any is read; kCorruptFile when index and
/// shards disagree or two shards have a tensor of one name.
Result<std::vector<StoredTensor>> open_safetensors_folder(const std::string& folder);

}  // namespace tandem
