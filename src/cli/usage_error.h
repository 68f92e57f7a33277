#pragma once

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace tandem::cli {

/// Ends a parse that did not lead to a command: prints help or the version on standard output, or
/// on standard error what is wrong with the command line. Sets the exit code.
void finish_parse(const CLI::App& app, const CLI::ParseError& error, CommandContext& context);

}  // namespace tandem::cli
