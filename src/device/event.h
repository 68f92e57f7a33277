#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "base/result.h"

namespace tandem {

/// A device's side of an execution that ends later: whoever finishes the work calls complete()
/// once, from any thread. Thread safe; lives as long as any Event of it.
class Completion {
 public:
  /// The first call decides; later ones are ignored, so that a watchdog and a late device may race.
  void complete(Result<void> outcome);

  bool done() const;
  Result<void> wait() const;
  /// Nothing when `seconds` passed before the end.
  std::optional<Result<void>> wait_for(double seconds) const;
  /// For a device that uses the same Completion for its next execution: the caller knows that
  /// nobody waits for this one any more.
  void reset();

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable ended_;
  std::optional<Result<void>> outcome_;
};

/// Completion of an enqueued execution. Copyable; cheap; allocates nothing for an execution that
/// ended well before enqueue returned. Any thread may wait on a copy.
class Event {
 public:
  /// An execution that ended before enqueue returned.
  static Event completed(Result<void> outcome) { return Event(std::move(outcome), nullptr); }
  /// An execution that goes on; `completion` is not null.
  static Event pending(std::shared_ptr<const Completion> completion) {
    return Event({}, std::move(completion));
  }

  bool done() const { return completion_ == nullptr || completion_->done(); }

  /// Blocks until the execution has ended.
  Result<void> wait() const { return completion_ == nullptr ? outcome_ : completion_->wait(); }

  /// As wait, for at most `seconds`; nothing when they passed first.
  std::optional<Result<void>> wait_for(double seconds) const {
    if (completion_ == nullptr) return outcome_;
    return completion_->wait_for(seconds);
  }

 private:
  Event(Result<void> outcome, std::shared_ptr<const Completion> completion)
      : outcome_(std::move(outcome)), completion_(std::move(completion)) {}

  Result<void> outcome_;  ///< when completion_ is null
  std::shared_ptr<const Completion> completion_;
};

}  // namespace tandem
