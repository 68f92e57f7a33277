#include "quantize/target_format.h"

#include <gmock/gmock.h>

namespace tandem {
namespace {

SourceTensor tensor(const char* name, std::vector<uint64_t> dims, DType type = DType::kF16) {
  SourceTensor out;
  out.name = name;
  out.dims = std::move(dims);
  out.exact_type = type;
  return out;
}

TEST(TargetFormat, NamesRoundTrip) {
  for (const char* name : {"nested", "Q8_0", "Q4_0", "Q4_K", "Q6_K", "F16"}) {
    const auto format = TargetFormat::parse(name);
    ASSERT_TRUE(format) << name;
    EXPECT_EQ(format->name(), name);
  }
  EXPECT_EQ(TargetFormat::parse("q4_k")->type, DType::kQ4_K);
  EXPECT_DOUBLE_EQ(TargetFormat::parse("nested")->bits_per_weight(), 8.5);
  EXPECT_THAT(TargetFormat::parse("q9").error().message, ::testing::HasSubstr("nested, int2"));
  EXPECT_FALSE(TargetFormat::parse("i32"));
  EXPECT_EQ(TargetFormat::parse("int2")->name(), "Q2_K");
  EXPECT_EQ(TargetFormat::parse("fp8")->name(), "MXFP8");
  EXPECT_EQ(TargetFormat::parse("2:4")->name(), "Q4_24");
  EXPECT_DOUBLE_EQ(TargetFormat::parse("fp8")->bits_per_weight(), 8.25);
  EXPECT_DOUBLE_EQ(TargetFormat::parse("2:4")->bits_per_weight(), 3.5);
}

TEST(TargetFormat, VectorsStayF32AndOddRowsFallBack) {
  FormatChoice choice;
  EXPECT_EQ(choice.choose(tensor("a_norm.weight", {64})).name(), "F32");
  EXPECT_EQ(choice.choose(tensor("a.weight", {64, 8})).name(), "nested");
  EXPECT_EQ(choice.choose(tensor("a.weight", {40, 8})).name(), "F16");
  EXPECT_EQ(choice.choose(tensor("ids", {64, 8}, DType::kI32)).name(), "I32");
  choice.matrices = {DType::kQ4_K, false};
  EXPECT_EQ(choice.choose(tensor("a.weight", {512, 8})).name(), "Q4_K");
  EXPECT_EQ(choice.choose(tensor("a.weight", {96, 8})).name(), "Q5_0");
  choice.matrices = {DType::kQ2_K, false};
  EXPECT_EQ(choice.choose(tensor("a.weight", {512, 8})).name(), "Q2_K");
  EXPECT_EQ(choice.choose(tensor("a.weight", {576, 8})).name(), "Q2_0");
  EXPECT_EQ(choice.choose(tensor("a.weight", {96, 8})).name(), "IQ4_NL");
  EXPECT_EQ(choice.choose(tensor("a.weight", {40, 8})).name(), "F16");
}

TEST(TargetFormat, TheLastRuleThatMatchesWins) {
  FormatChoice choice;
  choice.rules = {*FormatRule::parse("blk.*=q8_0"), *FormatRule::parse("blk.?.ffn*=q6_k")};
  EXPECT_EQ(choice.choose(tensor("blk.0.attn_q.weight", {256, 8})).name(), "Q8_0");
  EXPECT_EQ(choice.choose(tensor("blk.0.ffn_up.weight", {256, 8})).name(), "Q6_K");
  EXPECT_EQ(choice.choose(tensor("output.weight", {256, 8})).name(), "nested");
  EXPECT_FALSE(FormatRule::parse("blk.*"));
  EXPECT_FALSE(FormatRule::parse("=q8_0"));
}

TEST(TargetFormat, Wildcards) {
  EXPECT_TRUE(matches_wildcards("abc", "abc"));
  EXPECT_TRUE(matches_wildcards("abc", "*"));
  EXPECT_TRUE(matches_wildcards("abc", "a*c*"));
  EXPECT_TRUE(matches_wildcards("aXbXc", "a*X?"));
  EXPECT_FALSE(matches_wildcards("abc", "ab"));
  EXPECT_FALSE(matches_wildcards("abc", "?bcd"));
  EXPECT_FALSE(matches_wildcards("", "?"));
  EXPECT_TRUE(matches_wildcards("", "**"));
}

}  // namespace
}  // namespace tandem
