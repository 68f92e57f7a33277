// Loads a library where it can do no harm.

#include "device/vendor_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace tandem {
namespace {

using Outcome = LibraryProbe::Outcome;

constexpr size_t kLongestMessage = 512;

/// In the child: loads, writes the loader's complaint, if any, and ends without running anything
/// of the parent's.
[[noreturn]] void load_and_end(const std::string& library, int to_parent) {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
    std::signal(signal, SIG_DFL);
  }
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) _exit(0);
  const char* complaint = dlerror();
  if (complaint != nullptr && write(to_parent, complaint, std::strlen(complaint)) < 0) _exit(2);
  _exit(1);
}

/// What the child wrote until it ended; nothing when it took longer than the deadline.
bool read_until_end(int from_child, double deadline_seconds, std::string& out) {
  char buffer[kLongestMessage];
  for (;;) {
    pollfd ready{from_child, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(deadline_seconds * 1e3)) <= 0) return false;
    const ssize_t n = read(from_child, buffer, sizeof buffer);
    if (n <= 0) return true;
    out.append(buffer, std::min<size_t>(static_cast<size_t>(n), kLongestMessage - out.size()));
  }
}

LibraryProbe explain(const std::string& library, int status, const std::string& complaint) {
  if (WIFSIGNALED(status)) {
    return {Outcome::kCrashed, fmt::format("{} crashes while it is loaded ({})", library,
                                           strsignal(WTERMSIG(status)))};
  }
  if (WEXITSTATUS(status) == 0) return {Outcome::kLoads, fmt::format("{} loads", library)};
  // The loader's words name what is missing: the library itself, or one that it needs.
  const bool is_missing = complaint.starts_with(library + ": cannot open shared object file");
  if (is_missing) return {Outcome::kMissing, fmt::format("{} is not installed", library)};
  if (complaint.empty()) {
    return {Outcome::kCrashed, fmt::format("{} ends the process while it is loaded", library)};
  }
  return {Outcome::kRefused, fmt::format("{} does not load: {}", library, complaint)};
}

}  // namespace

LibraryProbe probe_vendor_library(const std::string& library, double deadline_seconds) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    return {Outcome::kRefused,
            fmt::format("{}: no pipe for trying it: {}", library, std::strerror(errno))};
  }
  const pid_t child = fork();
  if (child == 0) load_and_end(library, pipe_ends[1]);
  close(pipe_ends[1]);
  if (child < 0) {
    close(pipe_ends[0]);
    return {Outcome::kRefused,
            fmt::format("{}: no process for trying it: {}", library, std::strerror(errno))};
  }
  std::string complaint;
  const bool ended = read_until_end(pipe_ends[0], deadline_seconds, complaint);
  close(pipe_ends[0]);
  if (!ended) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended) {
    return {Outcome::kHung, fmt::format("{} does not return from being loaded within {} s", library,
                                        deadline_seconds)};
  }
  return explain(library, status, complaint);
}

}  // namespace tandem
