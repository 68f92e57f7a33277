#pragma once

#include <array>
#include <cstdint>

namespace tandem {

/// Pseudo-random numbers that are the same on every machine and with every standard library
/// (std::uniform_real_distribution is not): xoshiro256++ 1.0 of Blackman and Vigna, rotations 23
/// and 45, shift 17, its state filled by SplitMix64 from the seed.
class Random {
 public:
  explicit Random(uint64_t seed);
  /// Continues from a given state, which must not be all zero. For reference vectors.
  explicit Random(const std::array<uint64_t, 4>& state) : state_(state) {}

  uint64_t next();
  /// From 0 to 1 without 1: the upper 53 bits of next() times 2^-53.
  double uniform();

 private:
  std::array<uint64_t, 4> state_;
};

/// SplitMix64's step: advances `state` and returns the next number.
uint64_t split_mix(uint64_t& state);

/// A seed of 32 bits from the system's entropy: short enough to be typed again.
uint64_t random_seed();

}  // namespace tandem
