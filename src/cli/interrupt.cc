#include "cli/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace tandem::cli {
namespace {

// A signal handler can reach nothing but globals; this is the program's only one.
std::atomic<Session*> interrupted_session{nullptr};

void on_interrupt(int) {
  Session* session = interrupted_session.exchange(nullptr);
  if (session == nullptr) _exit(130);
  session->cancel();
}

}  // namespace

InterruptScope::InterruptScope(Session& session) {
  interrupted_session = &session;
  std::signal(SIGINT, on_interrupt);
}

InterruptScope::~InterruptScope() {
  std::signal(SIGINT, SIG_DFL);
  interrupted_session = nullptr;
}

}  // namespace tandem::cli
