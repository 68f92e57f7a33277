#pragma once

#include "cli/command.h"

namespace tandem::cli {

/// `tandem inspect FILE`: what a model file holds.
void add_inspect_command(CLI::App& app, CommandContext& context);

}  // namespace tandem::cli
