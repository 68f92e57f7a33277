#include "tensor/blocks/rounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tandem::blocks {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Rounding, EqualsTheLibraryWithinTheRange) {
  for (int i = -4000; i <= 4000; ++i) {
    const float x = static_cast<float>(i) * 0.03125f;
    EXPECT_EQ(round_within(x, -200, 200), static_cast<int>(std::nearbyint(x))) << x;
    EXPECT_EQ(round_away_within(x, -200, 200), static_cast<int>(std::round(x))) << x;
    EXPECT_EQ(truncate_within(x, -200, 200), static_cast<int>(x)) << x;
  }
  EXPECT_EQ(round_away_within(0.49999997f, -8, 7), 0);
  EXPECT_EQ(round_within(0.49999997f, -8, 7), 0);
}

TEST(Rounding, ClampsWhatIsOutside) {
  for (const float x : {7.49f, 7.5f, 8.0f, 1e9f, 3e38f, kInfinity}) {
    EXPECT_EQ(round_within(x, -8, 7), 7) << x;
    EXPECT_EQ(round_away_within(x, -8, 7), 7) << x;
    EXPECT_EQ(truncate_within(x, -8, 7), 7) << x;
    EXPECT_EQ(round_within(-x - 1.0f, -8, 7), -8) << x;
    EXPECT_EQ(truncate_within(-x - 1.0f, -8, 7), -8) << x;
  }
  EXPECT_EQ(round_within(kNan, -8, 7), -8);
  EXPECT_EQ(round_away_within(kNan, -8, 7), -8);
  EXPECT_EQ(truncate_within(kNan, -8, 7), -8);
}

TEST(SignedMax, KeepsTheSignAndTheFirstOfEquals) {
  const float x[] = {0.5f, -2.0f, 2.0f, kNan, 1.0f};
  EXPECT_EQ(signed_max(x, 5), -2.0f);
  EXPECT_EQ(signed_max(x, 1), 0.5f);
  const float zeros[] = {0.0f, -0.0f};
  EXPECT_EQ(signed_max(zeros, 2), 0.0f);
}

}  // namespace
}  // namespace tandem::blocks
