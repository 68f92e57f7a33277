#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "sources/json_file.h"
#include "sources/stored_tensor.h"

namespace tandem {

/// Reads the tensor table of an MLC model folder (TVM's tensor cache):
///
///   {"metadata": {...},
///    "records": [{"dataPath": "params_shard_0.bin", "format": "raw-shard", "nbytes": N,
///                 "md5sum": "...",
///                 "records": [{"name": "...", "shape": [2, 3], "dtype": "float16",
///                              "format": "raw", "nbytes": 12, "byteOffset": 0}, ...]}, ...]}
///
/// A float32 array of format "f32-to-bf16" is stored as BF16 and comes out as that type. Checked:
/// names unique, sizes follow from type and shape, every array inside its shard, no overlap within
/// one, a shard's size and its MD5 when it is given.
/// `open_shard` maps a file of the folder by its name, which is a plain file name.
using ShardOpener =
    std::function<Result<std::shared_ptr<const MappedFile>>(const std::string& name)>;
Result<std::vector<StoredTensor>> read_tensor_cache(const JsonConfig& cache,
                                                    const ShardOpener& open_shard);

/// The same for a folder with tensor-cache.json or ndarray-cache.json. Errors also: kNotFound
/// listing the shards that are missing, before any is read.
Result<std::vector<StoredTensor>> open_tensor_cache(const std::string& folder);

}  // namespace tandem
