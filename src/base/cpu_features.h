#pragma once

#include <string>

namespace tandem {

/// Instruction sets of this processor that a kernel may need, as the operating system enables them.
struct CpuFeatures {
  bool avx2 = false;  ///< AVX2, FMA and F16C together
  bool avx_vnni = false;
  bool avx512 = false;  ///< F, BW, DQ and VL together
  bool avx512_vnni = false;
  bool avx512_bf16 = false;
  bool amx = false;  ///< tiles, int8 and bf16 products, and Linux lets this process use them
  bool neon_dotprod = false;
  bool neon_i8mm = false;

  /// Asks the processor; the answer never changes while a program runs. Asks Linux for the tile
  /// registers, which it gives only to processes that want them.
  static CpuFeatures detect();

  /// For instance "avx2 avx512 avx512_vnni".
  std::string to_string() const;
};

/// How many threads a compute pool should use: the processors this process may run on (affinity
/// mask), at most the control group's CPU quota, at least 1.
int usable_processors();

/// The processor's marketing name, or "unknown".
std::string processor_name();

}  // namespace tandem
