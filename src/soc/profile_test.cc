// Reading profiles: the built-in ones, and clear errors for wrong ones.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "soc/builtin_profiles.h"
#include "soc/operators.h"
#include "soc/profile_reader.h"

namespace tandem::soc {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

Json good() {
  for (const BuiltinProfile& profile : builtin_profiles()) {
    if (profile.name == "snapdragon-8-gen-3") return Json::parse(profile.json);
  }
  return {};
}

std::string error_of(const Json& json) {
  const auto profile = parse_profile(json.dump(), "phone.json");
  return profile ? "no error" : profile.error().message;
}

TEST(SocProfile, EveryBuiltinProfileReads) {
  for (const std::string& name : builtin_profile_names()) {
    const auto profile = find_profile(name);
    ASSERT_TRUE(profile) << profile.error().message;
    EXPECT_EQ(profile->name, name);
    for (const Figure& figure : profile->figures) {
      EXPECT_FALSE(figure.source.empty()) << figure.path;
      EXPECT_TRUE(figure.estimated || !profile->what_if) << figure.path;
    }
  }
}

TEST(SocProfile, UnitsBecomeSi) {
  const auto profile = find_profile("snapdragon-8-gen-3");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_DOUBLE_EQ(profile->dram.peak_bytes_per_s, 68e9);
  EXPECT_DOUBLE_EQ(profile->npus.at(0).sram_bytes, 8192 * 1024.0);
  EXPECT_EQ(profile->npus[0].array.dataflow, Dataflow::kWeightStationary);
}

TEST(SocProfile, ErrorsNameFileFieldValueAndLimit) {
  Json json = good();
  json["npus"][0]["array"]["rows"]["value"] = 0;
  EXPECT_EQ(error_of(json), "phone.json: npus[0].array.rows.value: 0 is outside 1 to 4096");

  json = good();
  json["npus"][0]["array"]["rows"]["value"] = 31.5;
  EXPECT_EQ(error_of(json), "phone.json: npus[0].array.rows: 31.5 is not a whole number");

  json = good();
  json["dram"]["peak_gb_per_s"]["value"] = "fast";
  EXPECT_EQ(error_of(json), "phone.json: dram.peak_gb_per_s.value: \"fast\" is not a number");

  json = good();
  json["dram"]["usable_gb_per_s"]["value"] = 70;
  EXPECT_EQ(error_of(json), "phone.json: dram.usable_gb_per_s.value: 70 is above peak_gb_per_s 68");

  json = good();
  json["npus"][0].erase("sram_kib");
  EXPECT_EQ(error_of(json), "phone.json: npus[0].sram_kib: is missing");

  json = good();
  json["npus"][0]["sram_kb"] = 5;
  EXPECT_THAT(error_of(json),
              HasSubstr("phone.json: npus[0].sram_kb: is not known; known are name, driver"));

  json = good();
  json["npus"][0]["array"]["dataflow"] = "sideways";
  EXPECT_THAT(error_of(json), HasSubstr("npus[0].array.dataflow: \"sideways\" is not known"));

  json = good();
  json["npus"][0]["operators"][0]["op"] = "conv";
  EXPECT_THAT(error_of(json), HasSubstr("operators[0].op: \"conv\" is not known; known are embed"));

  json = good();
  json["schema"] = "tandem.soc_profile.v9";
  EXPECT_THAT(error_of(json), HasSubstr("this build reads tandem.soc_profile.v1"));
}

TEST(SocProfile, EveryFigureNeedsASource) {
  Json json = good();
  json["board_watts"].erase("source");
  EXPECT_EQ(error_of(json),
            "phone.json: board_watts.source: is missing: every figure names where it comes from");
  json = good();
  json["board_watts"]["sauce"] = "x";
  EXPECT_THAT(error_of(json), HasSubstr("board_watts.sauce: is not known"));
}

TEST(SocProfile, VariantsHaveAtMostThreeParameters) {
  Json json = good();
  const Json figure{{"value", 1}, {"source", "test"}};
  json["variants"] = {{{"name", "own"},
                       {"unit", "cpu"},
                       {"launch_us", figure},
                       {"launches_per_step", figure},
                       {"max_gb_per_s", figure},
                       {"mac_efficiency", figure}}};
  EXPECT_EQ(error_of(json),
            "phone.json: variants[0].name: variant \"own\" has 4 parameters of its own; at most 3 "
            "are allowed");
  json["variants"][0].erase("launch_us");
  const auto profile = parse_profile(json.dump(), "phone.json");
  ASSERT_TRUE(profile) << profile.error().message;
  const auto varied = with_variant(*profile, "own");
  ASSERT_TRUE(varied);
  EXPECT_DOUBLE_EQ(varied->cpu.max_bytes_per_s, 1e9);
  EXPECT_THAT(with_variant(*profile, "other").error().message, HasSubstr("known are own"));
}

TEST(SocProfile, ScalesOfActivationsAreDynamicUnlessTheFileSaysStatic) {
  Json json = good();
  auto& rule = json["npus"][0]["operators"][0];
  const auto scale_of = [&] {
    const auto profile = parse_profile(json.dump(), "phone.json");
    EXPECT_TRUE(profile) << profile.error().message;
    return profile->npus[0].operators[0].activation_scale;
  };
  EXPECT_EQ(scale_of(), ActivationScale::kDynamic);
  rule["activation_scale"] = "static";
  EXPECT_EQ(scale_of(), ActivationScale::kStatic);
  rule["activation_scale"] = "per_mille";
  EXPECT_EQ(error_of(json),
            "phone.json: npus[0].operators[0].activation_scale: \"per_mille\" is not known; known "
            "are dynamic, static");
}

TEST(SocProfile, BrokenTextIsAnError) {
  EXPECT_THAT(parse_profile("{", "a.json").error().message, HasSubstr("a.json: not JSON"));
  EXPECT_EQ(parse_profile("[]", "a.json").error().message, "a.json: document: [] is not an object");
  EXPECT_EQ(parse_profile(std::string(2 << 20, ' '), "a.json").error().code,
            ErrorCode::kCorruptFile);
  EXPECT_EQ(find_profile("nothing").error().code, ErrorCode::kNotFound);
}

TEST(Operators, TellWhyTheDriverRefuses) {
  const auto soc = find_profile("snapdragon-8-gen-3");
  ASSERT_TRUE(soc) << soc.error().message;
  NpuProfile npu = soc->npus[0];
  OperatorUse use{.op = Op::kLinear,
                  .activations = NumericType::kInt16,
                  .weights = NumericType::kInt4,
                  .rows = 128,
                  .n = 2048,
                  .k = 2048};
  EXPECT_FALSE(check_operator(npu, use));
  use.n = 100;
  EXPECT_EQ(check_operator(npu, use)->sentence, "N of linear is 100, not a multiple of 32");
  use.n = 2048;
  use.weights = NumericType::kFp8;
  EXPECT_EQ(check_operator(npu, use)->kind, RefusalKind::kUnsupportedDtype);
  use.weights = NumericType::kInt4;
  use.rows = 0;
  EXPECT_EQ(check_operator(npu, use)->kind, RefusalKind::kDynamicShape);
  use.rows = 1;
  npu.operators[0].since_driver = "9.1";
  EXPECT_EQ(check_operator(npu, use)->kind, RefusalKind::kDriverTooOld);
  npu.operators.clear();
  EXPECT_EQ(check_operator(npu, use)->kind, RefusalKind::kUnsupportedOp);
}

TEST(Operators, VersionsCompareByNumber) {
  EXPECT_LT(compare_versions("2.9", "2.29"), 0);
  EXPECT_EQ(compare_versions("2.29", "2.29.0"), 0);
  EXPECT_GT(compare_versions("32.0.203.258", "32.0.203.99"), 0);
}

}  // namespace
}  // namespace tandem::soc
