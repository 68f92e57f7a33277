#pragma once

#include <memory>
#include <string>

#include "sources/json_file.h"
#include "sources/open_weight_source.h"

namespace tandem {

/// Opens an MLC model folder: mlc-chat-config.json, the tensor cache, the tokenizer's files.
/// Quantizations: the group kinds of group_rows.h and q0f16, q0bf16, q0f32. Errors name the file,
/// array and what is wrong; an unknown quantization lists the known ones.
Result<std::unique_ptr<const WeightSource>> open_mlc_folder(
    const std::string& folder, const WeightSourceOptions& options = {});

/// The model part of an mlc-chat-config.json in config.json's words.
Result<JsonConfig> mlc_model_config(const JsonConfig& chat_config);

}  // namespace tandem
