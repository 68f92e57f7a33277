#pragma once

#include <optional>
#include <string>

#include "base/buffer.h"
#include "engine/compiled_phase.h"

namespace tandem {

/// Runs a segment on its device and again on the host, in the device's arithmetic where that is
/// specified (Executable::reference), and compares what it wrote: values that later nodes read,
/// logits, and the cache's new positions. One step at a time.
class SelfCheck {
 public:
  /// Room for steps of this size. Errors: kOutOfMemory.
  static Result<SelfCheck> create(uint64_t workspace_bytes, uint64_t logits_bytes,
                                  uint64_t state_bytes);

  /// Nothing when the device was right; else what differs, and the host's results are in place.
  /// Right results stay in place as the device wrote them. Errors: those of the device, kDevice
  /// when `deadline_seconds` (0: none) passed.
  Result<std::optional<std::string>> run(const CompiledPhase& phase, CompiledSegment& segment,
                                         Device& host, const Bindings& bindings,
                                         double deadline_seconds);

 private:
  void save_results(const CompiledPhase& phase, const CompiledSegment& segment,
                    const Bindings& bindings);
  void restore_results(const CompiledPhase& phase, const CompiledSegment& segment,
                       const Bindings& bindings);
  std::optional<std::string> compare(const CompiledPhase& phase, const CompiledSegment& segment,
                                     const Bindings& bindings, double bound);

  Buffer before_, after_;     ///< whole workspaces: inputs, and what the device wrote
  Buffer logits_;             ///< the device's
  Buffer states_, expected_;  ///< new cache positions: the device's and the host's
};

/// Whether an error is the step's own: no other device would do better.
inline bool is_final(ErrorCode code) {
  return code == ErrorCode::kCancelled || code == ErrorCode::kNumeric;
}

/// Waits for the event; kDevice naming device and seconds when `deadline_seconds` (0: none) pass.
Result<void> wait_within(const Event& event, const std::string& device, double deadline_seconds);

/// Largest normalised mean squared error between the host and a device whose arithmetic is not
/// specified to the bit, over what a segment writes (docs/run_time_safety.md says how it was
/// measured). All others must give the same bits.
inline constexpr double kCheckBound = 0.01;

}  // namespace tandem
