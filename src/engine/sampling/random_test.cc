#include "engine/sampling/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "engine/sampling/portable_exp.h"

namespace tandem {
namespace {

// Published vectors: Rosetta Code, "Pseudo-random numbers/Splitmix64", seed 1234567.
TEST(Random, SplitMixMatchesThePublishedNumbers) {
  uint64_t state = 1234567;
  EXPECT_EQ(split_mix(state), 6457827717110365317u);
  EXPECT_EQ(split_mix(state), 3203168211198807973u);
  EXPECT_EQ(split_mix(state), 9817491932198370423u);
}

// Vectors of the reference C implementation with state {1, 2, 3, 4}, as used by rand_xoshiro.
TEST(Random, XoshiroMatchesTheReferenceImplementation) {
  Random random(std::array<uint64_t, 4>{1, 2, 3, 4});
  for (const uint64_t expected : {41943041u, 58720359u}) EXPECT_EQ(random.next(), expected);
  EXPECT_EQ(random.next(), 3588806011781223u);
  EXPECT_EQ(random.next(), 3591011842654386u);
  EXPECT_EQ(random.next(), 9228616714210784205u);
}

TEST(Random, UniformIsBelowOneAndHasTheRightMean) {
  Random random(7);
  double sum = 0;
  constexpr int kN = 100000;
  for (int i = 0; i < kN; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
  }
  EXPECT_NEAR(sum / kN, 0.5, 5 / std::sqrt(12.0 * kN));  // five standard deviations
}

TEST(Random, RandomSeedsDifferAndFitIn32Bits) {
  const uint64_t first = random_seed();
  bool any_other = false;
  for (int i = 0; i < 8; ++i) {
    const uint64_t seed = random_seed();
    EXPECT_LE(seed, 0xffffffffu);
    any_other |= seed != first;
  }
  EXPECT_TRUE(any_other);
}

TEST(PortableExp, IsWithinTwoUnitsOfTheLibrary) {
  for (double x = 0; x > -700; x -= 0.000731 + x * x * 1e-6) {
    const double expected = std::exp(x);
    const double unit = std::nextafter(expected, 2) - expected;
    ASSERT_LE(std::fabs(portable_exp(x) - expected), 2 * unit) << x;
  }
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_exp(-1e300), 0);
  EXPECT_EQ(portable_exp(-INFINITY), 0);
}

// Bits recorded on x86-64 with g++ 12; another machine or compiler must print the same.
TEST(PortableExp, BitsAreTheRecordedOnes) {
  uint64_t hash = 0;
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const double e = portable_exp(-40 * random.uniform());
    uint64_t bits;
    std::memcpy(&bits, &e, sizeof(bits));
    hash = hash * 1099511628211u + bits;
  }
  EXPECT_EQ(hash, 495277673689052148u);
}

}  // namespace
}  // namespace tandem
