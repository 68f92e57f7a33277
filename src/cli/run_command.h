#pragma once

#include "cli/command.h"

namespace tandem::cli {

/// `tandem run`: one prompt, one reply.
void add_run_command(CLI::App& app, CommandContext& context);

}  // namespace tandem::cli
