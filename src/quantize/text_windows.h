#pragma once

#include <string>
#include <vector>

#include "base/token_id.h"
#include "model/model.h"

namespace tandem {

/// Tokens of a text in windows: documents (cut at lines that hold only U+001E) never share one, and
/// control tokens written in the text are tokens. `window` is lowered to what the model was trained
/// for. Errors: kInvalidArgument for a model without a tokenizer or a text of fewer than 16 tokens.
Result<std::vector<std::vector<TokenId>>> cut_into_windows(const Model& model,
                                                           const std::string& text, uint32_t window,
                                                           uint32_t max_tokens);

}  // namespace tandem
