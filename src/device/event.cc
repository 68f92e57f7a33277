#include "device/event.h"

#include <chrono>

namespace tandem {

void Completion::complete(Result<void> outcome) {
  {
    const std::lock_guard lock(mutex_);
    if (outcome_) return;
    outcome_ = std::move(outcome);
  }
  ended_.notify_all();
}

bool Completion::done() const {
  const std::lock_guard lock(mutex_);
  return outcome_.has_value();
}

Result<void> Completion::wait() const {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return outcome_.has_value(); });
  return *outcome_;
}

std::optional<Result<void>> Completion::wait_for(double seconds) const {
  std::unique_lock lock(mutex_);
  ended_.wait_for(lock, std::chrono::duration<double>(seconds),
                  [&] { return outcome_.has_value(); });
  return outcome_;
}

void Completion::reset() {
  const std::lock_guard lock(mutex_);
  outcome_.reset();
}

}  // namespace tandem
