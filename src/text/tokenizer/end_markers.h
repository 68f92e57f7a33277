#pragma once

#include <string_view>

#include "text/tokenizer/tokenizer_impl.h"

namespace tandem {

/// Whether a token of this text ends a turn in some model and could hardly be anything else, so
/// that it counts as a control token even where the file says it is ordinary text.
bool is_unmistakable_end_marker(std::string_view text);

/// Fills `impl.end_of_generation`: EOS, end of turn, end of message, the known markers in the
/// vocabulary, and `extra`. Needs the added tokens and the special ids.
void collect_end_of_generation(Tokenizer::Impl& impl, const std::vector<TokenId>& extra);

}  // namespace tandem
