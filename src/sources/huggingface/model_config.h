#pragma once

#include "base/log.h"
#include "formats/metadata.h"
#include "sources/huggingface/decoder_shape.h"
#include "sources/json_file.h"

namespace tandem {

/// Translates a config.json into GGUF keys, which are added to `metadata`. Reads every model type
/// that an architecture of ours runs (docs/model_sources.md has the table). Errors: kUnsupported
/// listing the known model types, or naming a setting that our architecture would ignore;
/// kCorruptFile for a setting that is missing, of another type or out of range.
Result<DecoderShape> read_model_config(const JsonConfig& config, Metadata& metadata,
                                       const LogSink& log = {});

}  // namespace tandem
