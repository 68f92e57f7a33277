#pragma once

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
};

}  // namespace tandem::cli
