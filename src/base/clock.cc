#include "base/clock.h"

#include <chrono>

namespace tandem {

double monotonic_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace tandem
