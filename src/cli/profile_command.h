#pragma once

#include "cli/command.h"

namespace tandem::cli {

void add_profile_command(CLI::App& app, CommandContext& context);

}  // namespace tandem::cli
