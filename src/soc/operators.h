#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "soc/profile.h"

namespace tandem::soc {

/// Why an NPU's driver refuses a node; device/reason.h has the same names.
enum class RefusalKind : uint8_t {
  kUnsupportedOp,
  kUnsupportedDtype,
  kAlignment,
  kDriverTooOld,
  kDynamicShape,
};

struct Refusal {
  RefusalKind kind;
  std::string sentence;  ///< with the values that decided
};

/// What is asked of the driver.
struct OperatorUse {
  Op op;
  NumericType activations;
  NumericType weights;  ///< linear and embed
  uint64_t rows;        ///< tokens; 0: not known before it runs
  uint64_t n = 0;
  uint64_t k = 0;
};

/// Nothing when the driver takes the node. Memory limits are not looked at: they are a graph's.
std::optional<Refusal> check_operator(const NpuProfile& npu, const OperatorUse& use);

/// Negative, zero or positive as dotted version `a` is older than, equal to or newer than `b`.
int compare_versions(std::string_view a, std::string_view b);

}  // namespace tandem::soc
