#pragma once

#include "cli/command.h"

namespace tandem::cli {

/// `tandem gate`: fails when figures fell behind a committed baseline.
void add_gate_command(CLI::App& app, CommandContext& context);

}  // namespace tandem::cli
