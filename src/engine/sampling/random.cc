// The project's one source of pseudo-random numbers for choosing tokens.

#include "engine/sampling/random.h"

#include <unistd.h>

#include <bit>
#include <chrono>

namespace tandem {

uint64_t split_mix(uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

Random::Random(uint64_t seed) {
  for (uint64_t& word : state_) word = split_mix(seed);
}

uint64_t Random::next() {
  const uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

uint64_t random_seed() {
  uint32_t seed = 0;
  if (getentropy(&seed, sizeof(seed)) == 0) return seed;
  // Kernels without getentropy: the clock is enough, a seed is no secret.
  uint64_t state = std::chrono::steady_clock::now().time_since_epoch().count();
  return split_mix(state) >> 32;
}

}  // namespace tandem
