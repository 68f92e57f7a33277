#pragma once

#include "cli/command.h"

namespace tandem::cli {

/// `tandem template`: a conversation rendered by a chat template.
void add_template_command(CLI::App& app, CommandContext& context);

}  // namespace tandem::cli
