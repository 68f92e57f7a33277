#pragma once

#include <CLI/CLI.hpp>
#include <string_view>

#include "base/result.h"

namespace tandem::cli {

/// What every command of the program shares. A command is one file with one function
///   void add_<name>_command(CLI::App& app, CommandContext& context);
/// that declares its options and sets a callback; the callback runs the command and hands the
/// outcome to `finish`.
struct CommandContext {
  /// 0 ok, 1 failed, 2 bad usage.
  int exit_code = 0;

  /// Prints the error of a failed command on standard error and sets the exit code: 2 when an
  /// argument was wrong, 1 otherwise.
  void finish(const Result<void>& outcome);
};

/// Writes all of `text` to standard output. Errors: kIo with the system's reason, such as a full
/// disk; fmt::print would throw instead.
Result<void> write_output(std::string_view text);

}  // namespace tandem::cli
