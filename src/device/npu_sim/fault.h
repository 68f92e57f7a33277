#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "graph/graph.h"

namespace tandem {

/// What a processor that misbehaves does.
enum class FaultKind : uint8_t {
  kHang,         ///< an execution never ends
  kError,        ///< an execution fails
  kWrongResult,  ///< an execution ends well with wrong numbers
  kLost,         ///< the device is gone: this and every later call fails
  kOutOfMemory,  ///< compile fails
};
const char* to_string(FaultKind kind);

/// A fault to be injected, for tests and rehearsals.
struct Fault {
  FaultKind kind;
  Phase phase;
  uint32_t after = 0;  ///< executions of that phase that still go well
};

/// "hang:decode:3" or "oom:prefill"; kinds are hang, error, wrong, lost, oom. Errors:
/// kInvalidArgument with the form.
Result<Fault> parse_fault(std::string_view text);

}  // namespace tandem
