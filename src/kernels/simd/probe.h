#pragma once

#include <cstdint>
#include <span>

#include "kernels/isa.h"

// Lets a test call every operation of every F32x16 type, each compiled for its own instruction set.

namespace tandem::kernels::simd {

enum class Operation : uint8_t {
  kSet1,
  kLoadPartial,
  kLoadF16,
  kLoadBf16,
  kIota,
  kStorePartial,
  kStoreF16,
  kNegate,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFma,
  kMax,
  kMin,
  kAbs,
  kSelectLess,
  kRound,
  kScaleByPowerOf2,
  kReduceAdd,
  kReduceMax,
  kDeinterleave,
  kInterleave,
  kExp,
  kTanh,
};
inline constexpr int kOperationCount = 25;

struct ProbeInput {
  float a[16];
  float b[16];
  float c[16];
  float powers[16];  ///< integers in [-252, 252]
  uint16_t halves[16];
  int n;  ///< of the partial operations
};
/// 32 words; what an operation does not write keeps its value.
using ProbeFn = void (*)(Operation operation, const ProbeInput& in, uint32_t* out) noexcept;

struct ProbeRow {
  Isa isa;
  const char* name;
  ProbeFn run;
};
/// Every type of this build, scalar first.
std::span<const ProbeRow> probe_rows();

}  // namespace tandem::kernels::simd
