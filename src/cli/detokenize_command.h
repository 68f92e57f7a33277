#pragma once

#include "cli/command.h"

namespace tandem::cli {

/// `tandem detokenize`: the text of token ids.
void add_detokenize_command(CLI::App& app, CommandContext& context);

}  // namespace tandem::cli
