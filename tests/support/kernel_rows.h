#pragma once

#include <cstddef>

#include "base/cpu_features.h"
#include "kernels/isa.h"

namespace tandem::testing_support {

/// Whether this processor can run kernels of the row.
inline bool runs_here(kernels::Isa isa) {
  static const CpuFeatures cpu = CpuFeatures::detect();
  switch (isa) {
    case kernels::Isa::kScalar:
      return true;
    case kernels::Isa::kAvx2:
      return cpu.avx2;
    case kernels::Isa::kAvx512Vnni:
      return cpu.avx512_vnni;
    case kernels::Isa::kAvx512Bf16:
      return cpu.avx512_vnni && cpu.avx512_bf16;
    case kernels::Isa::kAmx:
      return cpu.amx;
  }
  return false;
}

/// Lengths around the vector widths, and rows of real models.
inline constexpr size_t kLengths[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,  13,  14,
                                      15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,  27,  28,
                                      29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,  41,  42,
                                      43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54,  55,  56,
                                      57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 128, 896, 4864};

}  // namespace tandem::testing_support
