#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "soc/cost.h"

namespace tandem::soc {

/// Simulated time of a machine with several lanes. Commands of one lane run in the order of issue,
/// each after the commands it waits for; lanes run side by side.
class EventClock {
 public:
  using CommandId = uint32_t;
  static constexpr CommandId kNone = UINT32_MAX;

  struct Command {
    Lane lane;
    uint32_t work;
    double seconds;        ///< the lane is busy
    double latency_s = 0;  ///< more until those who wait may start
    uint64_t bytes = 0;
  };

  /// Keeps spans only when asked: a model's step has thousands of commands.
  explicit EventClock(bool with_spans) : with_spans_(with_spans) {}

  /// `after` may hold kNone.
  CommandId issue(const Command& command, std::span<const CommandId> after);
  /// Takes `seconds` from a lane without a command: another lane uses what they share.
  void steal(Lane lane, double seconds);

  double ready(CommandId id) const { return id == kNone ? 0 : ready_[id]; }
  /// When everything issued so far has ended.
  double now() const { return now_; }
  double busy(Lane lane) const { return busy_[static_cast<size_t>(lane)]; }
  /// Sorted by start.
  std::vector<Span> take_spans();

 private:
  bool with_spans_;
  std::array<double, kLanes> free_{};
  std::array<double, kLanes> busy_{};
  double now_ = 0;
  std::vector<double> ready_;
  std::vector<Span> spans_;
};

}  // namespace tandem::soc
