#pragma once

#include "cli/command.h"

namespace tandem::cli {

/// `tandem synth`: models of real size with random or grown weights.
void add_synth_command(CLI::App& app, CommandContext& context);

}  // namespace tandem::cli
