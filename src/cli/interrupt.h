#pragma once

#include <csignal>

#include "engine/session.h"

namespace tandem::cli {

/// While it lives, Ctrl-C cancels the session's work instead of ending the program; a second Ctrl-C
/// before the work has stopped ends the program. One at a time.
class InterruptScope {
 public:
  explicit InterruptScope(Session& session);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  struct sigaction before_;
};

/// While it lives, Ctrl-C only interrupts the read that waits for input. One at a time.
class PromptInterruptScope {
 public:
  PromptInterruptScope();
  ~PromptInterruptScope();
  PromptInterruptScope(const PromptInterruptScope&) = delete;
  PromptInterruptScope& operator=(const PromptInterruptScope&) = delete;

  /// Whether Ctrl-C came since the scope began.
  bool interrupted() const;

 private:
  struct sigaction before_;
};

}  // namespace tandem::cli
