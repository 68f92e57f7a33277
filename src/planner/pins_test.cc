#include "planner/pins.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(Pins, PatternsMatchWholeNames) {
  EXPECT_TRUE(matches("layers.*.attention", "layers.3.attention"));
  EXPECT_TRUE(matches("layers.?.attention", "layers.3.attention"));
  EXPECT_FALSE(matches("layers.?.attention", "layers.13.attention"));
  EXPECT_FALSE(matches("layers.*.attention", "layers.3.attention_norm"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("*norm*", "layers.3.ffn_norm"));
  EXPECT_TRUE(matches("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(matches("a*b*c", "aXbYbZ"));
  EXPECT_FALSE(matches("", "head"));
}

TEST(Pins, TheLastThatMatchesHolds) {
  const Pin pins[] = {{"*", "npu"}, {"head", "cpu"}};
  EXPECT_EQ(find_pin(pins, "head")->device, "cpu");
  EXPECT_EQ(find_pin(pins, "embed")->device, "npu");
  EXPECT_EQ(find_pin({}, "head"), nullptr);
}

TEST(Pins, AreParsedOrRefusedWithTheForm) {
  const auto pin = parse_pin("layers.*.attention=cpu");
  ASSERT_TRUE(pin);
  EXPECT_EQ(pin->pattern, "layers.*.attention");
  EXPECT_EQ(pin->device, "cpu");
  for (const char* bad : {"", "=", "x=", "=cpu", "layers.*.attention"}) {
    EXPECT_FALSE(parse_pin(bad)) << bad;
  }
}

}  // namespace
}  // namespace tandem
