#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string_view>
#include <utility>

#include "base/log.h"
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

/// Turns "an argument was wrong" into a plain failure: for work that begins after the command line
/// was found right, such as a conversation that its template refuses.
template <class T>
Result<T> as_failure(Result<T> result) {
  if (!result && result.error().code == ErrorCode::kInvalidArgument) {
    result.error().code = ErrorCode::kUnsupported;
  }
  return result;
}

/// Writes all of `text` to standard output. Errors: kIo with the system's reason, such as a full
/// disk; fmt::print would throw instead.
Result<void> write_output(std::string_view text);

/// As write_output, with formatting.
template <class... Args>
Result<void> print(fmt::format_string<Args...> format, Args&&... args) {
  return write_output(fmt::format(format, std::forward<Args>(args)...));
}

/// Writes to standard error; what cannot be written there is lost.
void write_note(std::string_view text);

/// As write_note, with formatting.
template <class... Args>
void note(fmt::format_string<Args...> format, Args&&... args) {
  write_note(fmt::format(format, std::forward<Args>(args)...));
}

/// The library's warnings on standard error; a LogSink.
void print_warning(LogLevel level, std::string_view message);

}  // namespace tandem::cli
