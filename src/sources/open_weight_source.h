#pragma once

#include <memory>
#include <string>

#include "base/log.h"
#include "formats/model_file.h"
#include "formats/weight_source.h"

namespace tandem {

struct WeightSourceOptions {
  /// Gets warnings, such as a tokenizer that could not be carried over whole.
  LogSink log;
};

/// Opens what lies at `path` (docs/model_sources.md):
///   a file                                       GGUF; any part of a split model opens all of it
///   a folder with mlc-chat-config.json           MLC weights, any of its quantizations we know
///   a folder with config.json and *.safetensors  a Hugging Face model
///   a folder with nothing of these but GGUF      the GGUF model in it, when there is just one
/// Errors: kNotFound when nothing is there or the folder holds no model (naming what was looked
/// for), otherwise those of the format's reader.
Result<std::unique_ptr<const WeightSource>> open_weight_source(
    const std::string& path, const WeightSourceOptions& options = {});

/// What lies at `path` as a model file to run. Tensors that a folder holds in another order or
/// coding are read into memory: `tandem convert` makes a file that is mapped whole.
Result<ModelFile> open_model_file(const std::string& path, const WeightSourceOptions& options = {});

}  // namespace tandem
