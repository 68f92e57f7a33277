// What Ctrl-C does.

#include "cli/interrupt.h"

#include <unistd.h>

#include <atomic>

namespace tandem::cli {
namespace {

// A signal handler can reach nothing but globals; these are the program's only ones.
std::atomic<Session*> interrupted_session{nullptr};
std::atomic<bool> prompt_interrupted{false};

void on_interrupt(int) {
  Session* session = interrupted_session.exchange(nullptr);
  if (session == nullptr) _exit(130);
  session->cancel();
}

void on_prompt_interrupt(int) { prompt_interrupted = true; }

/// Without SA_RESTART, so that a read that waits for input returns.
struct sigaction install(void (*handler)(int)) {
  struct sigaction action = {}, before = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &before);
  return before;
}

}  // namespace

InterruptScope::InterruptScope(Session& session) {
  interrupted_session = &session;
  before_ = install(on_interrupt);
}

InterruptScope::~InterruptScope() {
  sigaction(SIGINT, &before_, nullptr);
  interrupted_session = nullptr;
}

PromptInterruptScope::PromptInterruptScope() {
  prompt_interrupted = false;
  before_ = install(on_prompt_interrupt);
}

PromptInterruptScope::~PromptInterruptScope() { sigaction(SIGINT, &before_, nullptr); }

bool PromptInterruptScope::interrupted() const { return prompt_interrupted; }

}  // namespace tandem::cli
