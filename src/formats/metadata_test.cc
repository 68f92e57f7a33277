#include "formats/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Metadata, IntegersConvertByValueBetweenWidths) {
  Metadata m("m.gguf");
  m.set("u8", uint8_t{200});
  m.set("i64", int64_t{4294967295});
  m.set("negative", int32_t{-1});
  m.set("large", uint64_t{1} << 32);
  EXPECT_EQ(m.u32("u8"), 200u);
  EXPECT_EQ(m.u32("i64"), 4294967295u);
  ASSERT_FALSE(m.u32("negative"));
  EXPECT_EQ(m.u32("negative").error().code, ErrorCode::kCorruptFile);
  EXPECT_EQ(m.u32("negative").error().message,
            "m.gguf: key 'negative' holds -1, which does not fit u32");
  EXPECT_THAT(m.u32("large").error().message, HasSubstr("4294967296"));
}

TEST(Metadata, ErrorsNameSourceKeyAndTypes) {
  Metadata m("m.gguf");
  m.set("text", std::string("12"));
  m.set("flag", true);
  EXPECT_EQ(m.u32("text").error().message, "m.gguf: key 'text' holds string, expected an integer");
  EXPECT_EQ(m.u32("flag").error().code, ErrorCode::kCorruptFile);
  EXPECT_EQ(m.string("flag").error().message, "m.gguf: key 'flag' holds bool, expected string");
  EXPECT_EQ(m.strings("text").error().message,
            "m.gguf: key 'text' holds string, expected string[]");
  EXPECT_EQ(m.boolean("none").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(m.boolean("none").error().message, "m.gguf: key 'none' is missing");
}

TEST(Metadata, FloatsMustBeFinite) {
  Metadata m("m.gguf");
  m.set("f32", 0.5f);
  m.set("f64", 0.25);
  m.set("nan", std::numeric_limits<float>::quiet_NaN());
  m.set("too_large", 1e300);
  EXPECT_EQ(m.f32("f32"), 0.5f);
  EXPECT_EQ(m.f32("f64"), 0.25f);
  EXPECT_THAT(m.f32("nan").error().message, HasSubstr("nan"));
  EXPECT_THAT(m.f32("too_large").error().message, HasSubstr("1e+300"));
}

TEST(Metadata, ArraysOfIntegersOfAnyWidth) {
  Metadata m("m.gguf");
  m.set("i8", std::vector<int8_t>{-1, 2});
  m.set("u64", std::vector<uint64_t>{7, 1ull << 40});
  m.set("scalar", uint16_t{9});
  m.set("bools", std::vector<bool>{true});
  EXPECT_THAT(*m.integers("i8"), ElementsAre(-1, 2));
  EXPECT_THAT(*m.integers("scalar"), ElementsAre(9));
  EXPECT_EQ(m.integers("u64").error().message,
            "m.gguf: key 'u64[1]' holds 1099511627776, which does not fit i32");
  EXPECT_FALSE(m.integers("bools"));
  EXPECT_THAT(*m.booleans("bools"), ElementsAre(true));
  EXPECT_FALSE(m.booleans("i8"));
}

TEST(Metadata, DefaultsStandInForMissingKeysOnly) {
  Metadata m("m.gguf");
  m.set("x", std::string("text"));
  EXPECT_EQ(m.u32_or("none", 5), 5u);
  EXPECT_EQ(m.f32_or("none", 0.5f), 0.5f);
  EXPECT_EQ(m.string_or("none", "d"), "d");
  EXPECT_EQ(m.boolean_or("none", true), true);
  EXPECT_FALSE(m.u32_or("x", 5));
}

TEST(Metadata, TypeNamesFollowTheAlternatives) {
  EXPECT_EQ(type_name(uint8_t{}), "u8");
  EXPECT_EQ(type_name(double{}), "f64");
  EXPECT_EQ(type_name(std::string{}), "string");
  EXPECT_EQ(type_name(std::vector<int64_t>{}), "i64[]");
  EXPECT_EQ(type_name(std::vector<std::string>{}), "string[]");
  EXPECT_EQ(type_name(NestedArray{}), "array[]");
}

}  // namespace
}  // namespace tandem
