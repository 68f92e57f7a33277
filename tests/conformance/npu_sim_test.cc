// The virtual NPU behind the device contract, in each arithmetic.

#include <gtest/gtest.h>

#include "device/cpu/cpu_device.h"
#include "soc/profile_reader.h"
#include "tests/conformance/conformance.h"
#include "tests/support/test_soc.h"

namespace tandem::testing {
namespace {

/// Results by verdict; a wrong one fails the test.
size_t count_right(Device& device, const std::string& label) {
  size_t n_right = 0;
  for (const OpCase& c : all_op_cases()) {
    const CaseResult result = check_case(device, c, kDefaultBound);
    EXPECT_NE(result.verdict, Verdict::kWrong)
        << label << ", " << result.name << ": " << result.detail;
    n_right += result.verdict == Verdict::kRight;
  }
  return n_right;
}

class Arithmetic : public ::testing::TestWithParam<soc::NumericType> {};

TEST_P(Arithmetic, Conforms) {
  const auto cpu = make_cpu_device({.n_threads = 2});
  ASSERT_TRUE(cpu);
  const auto npu = make_npu_sim(make_test_soc(GetParam()), 0, **cpu);
  EXPECT_GT(count_right(*npu, soc::to_string(GetParam())), 100u);
  check_behaviour(*npu);
}

std::string type_name(const ::testing::TestParamInfo<soc::NumericType>& info) {
  return soc::to_string(info.param);
}

INSTANTIATE_TEST_SUITE_P(Types, Arithmetic,
                         ::testing::Values(soc::NumericType::kInt8, soc::NumericType::kInt16,
                                           soc::NumericType::kFp16, soc::NumericType::kBf16),
                         type_name);

TEST(NpuSimConformance, ResultsDoNotDependOnThreads) {
  const auto one = make_cpu_device({.n_threads = 1}), three = make_cpu_device({.n_threads = 3});
  for (auto type : {soc::NumericType::kInt16, soc::NumericType::kFp16}) {
    const auto a = make_npu_sim(make_test_soc(type), 0, **one);
    const auto b = make_npu_sim(make_test_soc(type), 0, **three);
    for (const OpCase& c : all_op_cases()) {
      if (!c.name.starts_with("linear Q4_0")) continue;
      EXPECT_TRUE(same_results(*a, *b, c)) << c.name;
    }
  }
}

TEST(NpuSimConformance, EveryBuiltInProfileConforms) {
  const auto cpu = make_cpu_device({.n_threads = 2});
  for (const std::string& name : soc::builtin_profile_names()) {
    auto profile = soc::find_profile(name);
    ASSERT_TRUE(profile) << profile.error().message;
    const auto shared = std::make_shared<const soc::SocProfile>(std::move(*profile));
    for (size_t i = 0; i < shared->npus.size(); ++i) {
      const auto npu = make_npu_sim(shared, i, **cpu);
      for (const OpCase& c : all_op_cases()) {
        if (!c.name.starts_with("linear") && !c.name.starts_with("kv_write")) continue;
        if (!c.name.ends_with("rows 3") && !c.name.starts_with("kv_write")) continue;
        const CaseResult result = check_case(*npu, c, kDefaultBound);
        EXPECT_NE(result.verdict, Verdict::kWrong)
            << name << ", " << result.name << ": " << result.detail;
      }
    }
  }
}

}  // namespace
}  // namespace tandem::testing
