#pragma once

#include "cli/command.h"

namespace tandem::cli {

/// `tandem devices`: what can execute a model here, and with which kernels.
void add_devices_command(CLI::App& app, CommandContext& context);

}  // namespace tandem::cli
