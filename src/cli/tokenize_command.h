#pragma once

#include "cli/command.h"

namespace tandem::cli {

/// `tandem tokenize`: a text's token ids, pieces and byte offsets.
void add_tokenize_command(CLI::App& app, CommandContext& context);

}  // namespace tandem::cli
