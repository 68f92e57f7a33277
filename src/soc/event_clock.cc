// Lanes, commands and what waits for what.

#include "soc/event_clock.h"

#include <algorithm>

namespace tandem::soc {

const char* to_string(Lane lane) {
  switch (lane) {
    case Lane::kHost:
      return "host";
    case Lane::kDmaIn:
      return "dma_in";
    case Lane::kArray:
      return "mac_array";
    case Lane::kVector:
      return "vector";
    case Lane::kDmaOut:
      return "dma_out";
    case Lane::kCpu:
      return "cpu";
  }
  return "unknown";
}

EventClock::CommandId EventClock::issue(const Command& command, std::span<const CommandId> after) {
  const auto lane = static_cast<size_t>(command.lane);
  double start = free_[lane];
  for (const CommandId id : after) start = std::max(start, ready(id));
  const double end = start + command.seconds;
  free_[lane] = end;
  busy_[lane] += command.seconds;
  ready_.push_back(end + command.latency_s);
  now_ = std::max(now_, ready_.back());
  if (with_spans_) {
    spans_.push_back({command.lane, command.work, start, end, command.bytes});
  }
  return static_cast<CommandId>(ready_.size() - 1);
}

void EventClock::steal(Lane lane, double seconds) { free_[static_cast<size_t>(lane)] += seconds; }

std::vector<Span> EventClock::take_spans() {
  std::stable_sort(spans_.begin(), spans_.end(),
                   [](const Span& a, const Span& b) { return a.start_s < b.start_s; });
  return std::move(spans_);
}

}  // namespace tandem::soc
