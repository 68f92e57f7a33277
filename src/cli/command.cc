#include "cli/command.h"

#include <fmt/format.h>

#include <cstdio>

namespace tandem::cli {

void CommandContext::finish(const Result<void>& outcome) {
  if (outcome) return;
  std::fflush(stdout);
  fmt::print(stderr, "tandem: error: {}\n", outcome.error().message);
  exit_code = outcome.error().code == ErrorCode::kInvalidArgument ? 2 : 1;
}

}  // namespace tandem::cli
