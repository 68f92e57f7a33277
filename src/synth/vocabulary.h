#pragma once

#include "formats/metadata.h"

namespace tandem {

/// Copies the tokenizer and chat template keys of `from` into `to`, with unused tokens appended up
/// to `n_tokens`. Errors: kInvalidArgument when `from` has more tokens than that.
Result<void> copy_vocabulary(const Metadata& from, uint32_t n_tokens, Metadata& to);

}  // namespace tandem
