// Where the commands' output and errors go.

#include "cli/command.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tandem::cli {

void CommandContext::finish(const Result<void>& outcome) {
  if (outcome) return;
  std::fflush(stdout);
  note("tandem: error: {}\n", outcome.error().message);
  exit_code = outcome.error().code == ErrorCode::kInvalidArgument ? 2 : 1;
}

Result<void> write_output(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return {};
  return failure(ErrorCode::kIo, "standard output: cannot write: {}", std::strerror(errno));
}

void write_note(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void print_warning(LogLevel level, std::string_view message) {
  if (level == LogLevel::kWarning) note("tandem: warning: {}\n", message);
}

}  // namespace tandem::cli
