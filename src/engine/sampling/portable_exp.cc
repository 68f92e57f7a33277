// An exponential whose bits do not depend on the machine's mathematics library.

#include "engine/sampling/portable_exp.h"

#include <bit>
#include <cstdint>

namespace tandem {
namespace {

constexpr double kLowest = -708.0;  // below, the result would be subnormal
constexpr double kLog2OfE = 0x1.71547652b82fep+0;
// ln 2 in two parts; the first has 21 trailing zero bits, so that n * kLn2High is exact.
constexpr double kLn2High = 0x1.62e42fee00000p-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
// Adding and subtracting it rounds to the nearest integer.
constexpr double kRounder = 0x1.8p52;

}  // namespace

// HOT: sampler_bench, a call a candidate.
double portable_exp(double x) {
  if (!(x >= kLowest)) return 0.0;
  const double shifted = x * kLog2OfE + kRounder;
  const double n = shifted - kRounder;
  const double r = (x - n * kLn2High) - n * kLn2Low;  // |r| <= ln 2 / 2
  // Taylor series to r^13 / 13!; the next term is below 2^-57.
  double sum = 1.0 / 6227020800.0;
  sum = sum * r + 1.0 / 479001600.0;
  sum = sum * r + 1.0 / 39916800.0;
  sum = sum * r + 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  sum = sum * r + 0.5;
  sum = sum * r * r + r;
  const uint64_t exponent = static_cast<uint64_t>(static_cast<int64_t>(n) + 1023) << 52;
  return (1.0 + sum) * std::bit_cast<double>(exponent);
}

}  // namespace tandem
