#pragma once

#include <string>
#include <vector>

#include "planner/prediction.h"

namespace tandem {

/// One box of a trace.
struct TraceSpan {
  std::string process;  ///< a device, or "DRAM"
  std::string lane;
  std::string name;
  double start;  ///< seconds
  double end;
  uint64_t bytes = 0;
  std::string detail = {};
};

/// What every lane does over a request, in seconds of one clock: simulated or this machine's.
struct Trace {
  std::string model;
  std::string soc;  ///< empty: measured on this machine
  double prompt_seconds = 0;
  double seconds = 0;
  std::vector<TraceSpan> spans;

  /// The JSON that Perfetto and chrome://tracing open.
  std::string to_chrome_json() const;
  /// For each lane busy and idle time and bytes, and how long two devices worked at once.
  std::string summary() const;
};

/// The request on the plan's devices, chunks of the prompt overlapped, then `n_decoded` tokens.
Trace trace_workload(const Plan& plan, const Graph& prefill, const Graph& decode,
                     std::span<Device* const> devices, uint32_t prompt_tokens, uint32_t n_decoded);

}  // namespace tandem
