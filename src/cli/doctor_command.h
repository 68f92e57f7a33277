#pragma once

#include "cli/command.h"

namespace tandem::cli {

/// `tandem doctor`: what this machine offers and what is missing.
void add_doctor_command(CLI::App& app, CommandContext& context);

}  // namespace tandem::cli
