#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "text/tokenizer/tokenizer.h"

namespace tandem::cli {

/// The tokenizer of a GGUF file, of a tokenizer.json or of a folder that has one; of the embedded
/// demo model when `path` is empty. Warnings go to standard error.
Result<std::unique_ptr<const Tokenizer>> load_tokenizer(const std::string& path,
                                                        const std::string& pre_override);

/// All of standard input.
Result<std::string> read_standard_input();

}  // namespace tandem::cli
