#pragma once

namespace tandem::kernels::bench {

/// What one thread of this machine can do at most, measured.
struct Roof {
  double gmac_int8;     ///< 10^9 int8 multiply-adds a second with the widest dot product it has
  double gmac_bf16;     ///< 10^9 bf16 multiply-adds a second, 0 without dot products of bf16
  double gmac_float32;  ///< 10^9 fused multiply-adds a second
  double read_gbytes;   ///< 10^9 bytes a second read from memory beyond the caches
};
const Roof& roof();

/// Processor time of this thread: what other programs take away counts neither for the roof nor for
/// the kernel.
double thread_seconds();

}  // namespace tandem::kernels::bench
