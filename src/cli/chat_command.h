#pragma once

#include "cli/command.h"

namespace tandem::cli {

/// `tandem chat`: a conversation at the terminal.
void add_chat_command(CLI::App& app, CommandContext& context);

}  // namespace tandem::cli
