#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"

namespace tandem {

/// What a tokenizer.json says about the two ends of a text.
struct JsonEnds {
  /// Tokens that the post-processor puts around it.
  std::vector<TokenId> before_text;
  std::vector<TokenId> after_text;
  /// The decoder takes one space away from its beginning.
  bool strip_first_space = false;
};

/// Either object may be null. Errors: kUnsupported naming a type that is not known, kCorruptFile
/// for ids outside the vocabulary.
Result<JsonEnds> read_json_ends(const nlohmann::json& post_processor, const nlohmann::json& decoder,
                                int32_t n_tokens);

}  // namespace tandem
