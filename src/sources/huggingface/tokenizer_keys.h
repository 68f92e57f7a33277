#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "formats/metadata.h"
#include "sources/json_file.h"

namespace tandem {

/// The files of a model folder that say how text becomes tokens. All but the folder may be missing.
struct TokenizerFolder {
  std::string folder;
  /// The number of rows of the embedding: the vocabulary is filled up or cut to it.
  uint32_t vocabulary = 0;
  /// Ids that end generation by config.json and generation_config.json.
  std::vector<uint32_t> end_ids;
};

/// Adds the tokenizer.ggml.* keys and the chat templates of tokenizer.json, tokenizer_config.json,
/// chat_template.jinja and chat_template.json to `metadata`, so that the GGUF model tokenizes as
/// tokenizer.json says. A model without a tokenizer gets a warning and no keys. Errors:
/// kUnsupported for a tokenizer that GGUF's keys cannot say, naming what it is; kCorruptFile.
Result<void> read_tokenizer_keys(const TokenizerFolder& folder, Metadata& metadata,
                                 const LogSink& log = {});

/// The same from a text in memory. `config` is tokenizer_config.json.
Result<void> tokenizer_json_to_keys(std::string_view tokenizer_json, const JsonConfig& config,
                                    const TokenizerFolder& folder, Metadata& metadata,
                                    const LogSink& log = {});

/// Adds tokenizer.chat_template and the named ones from a string, or from a list of
/// {"name", "template"}. Does nothing for null.
Result<void> chat_template_to_keys(const std::string& source, const nlohmann::json& value,
                                   Metadata& metadata);

}  // namespace tandem
