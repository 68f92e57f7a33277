#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "text/tokenizer/normalizer.h"
#include "text/tokenizer/pre_tokenizer.h"

namespace tandem {

/// What a tokenizer.json's "normalizer" and "pre_tokenizer" come to.
struct JsonSteps {
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  /// The text is spelled in GPT-2's byte alphabet before the model sees it.
  bool byte_level = false;
  /// Spaces are spelled U+2581 before the model sees them. We keep them as spaces and change the
  /// vocabulary instead.
  bool marked_spaces = false;
};

/// Either may be null. Errors: kUnsupported naming the type that is not known.
Result<JsonSteps> read_json_steps(const nlohmann::json& normalizer,
                                  const nlohmann::json& pre_tokenizer);

}  // namespace tandem
