// The virtual NPU behind the device contract, in each arithmetic.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "device/cpu/cpu_device.h"
#include "device/cpu/linear_arithmetic.h"
#include "soc/profile_reader.h"
#include "tensor/convert.h"
#include "tests/conformance/conformance.h"
#include "tests/support/test_soc.h"

namespace tandem::testing {
namespace {

/// Results by verdict; a wrong one fails the test.
size_t count_right(Device& device, const std::string& label, double bound = kDefaultBound) {
  size_t n_right = 0;
  for (const OpCase& c : all_op_cases()) {
    const CaseResult result = check_case(device, c, bound);
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

/// The linears of the suite that an NPU takes, by name.
std::set<std::string> taken_linears(const Device& npu) {
  std::set<std::string> out;
  for (const OpCase& c : all_op_cases()) {
    const Node& node = c.graph->nodes[c.tested.first];
    if (node.op != Op::kLinear || c.tested.count != 1 || !c.name.ends_with("rows 3")) continue;
    if (!npu.supports(*c.graph, node, c.shape)) out.insert(c.name);
  }
  return out;
}

/// E4M3 has three bits of fraction: rounding to steps of an eighth of a power of two leaves a
/// relative mean square of (1/8)^2 / 12 times the mean of 1 / m^2 over m in [1, 2), which is a
/// half: 6.5e-4. The largest element of a block of MXFP8 may saturate besides, hence twice that.
constexpr double kFp8Bound = 1.3e-3;

TEST(NpuSimConformance, Fp8TakesMxfp8WeightsOnly) {
  const auto cpu = make_cpu_device({.n_threads = 2});
  const auto npu = make_npu_sim(make_test_soc(soc::NumericType::kFp8), 0, **cpu);
  EXPECT_GT(count_right(*npu, "fp8", kFp8Bound), 20u);
  EXPECT_THAT(taken_linears(*npu), ::testing::ElementsAre("linear MXFP8 [40,256] bias rows 3",
                                                          "linear MXFP8 [96,256] rows 3"));
}

TEST(NpuSimConformance, StaticScalesNeedStoredRanges) {
  const auto cpu = make_cpu_device({.n_threads = 2});
  const auto soc = [](soc::NumericType type) {
    return make_test_soc(type, soc::ActivationScale::kStatic);
  };
  const auto narrow = make_npu_sim(soc(soc::NumericType::kInt8), 0, **cpu);
  const auto wide = make_npu_sim(soc(soc::NumericType::kInt16), 0, **cpu);
  count_right(*narrow, "static int8");
  count_right(*wide, "static int16");
  EXPECT_THAT(taken_linears(*narrow), ::testing::ElementsAre("linear Q4_K calibrated rows 3",
                                                             "linear Q8_0 calibrated rows 3"));
  EXPECT_THAT(taken_linears(*wide),
              ::testing::ElementsAre("linear Q4_K calibrated rows 3", "linear Q4_K outliers rows 3",
                                     "linear Q4_K wide rows 3", "linear Q8_0 calibrated rows 3",
                                     "linear Q8_0 outliers rows 3", "linear Q8_0 wide rows 3"));
}

TEST(NpuSimConformance, WideInputsAreNeverTakenInEightBits) {
  const auto cpu = make_cpu_device({.n_threads = 2});
  const auto narrow = make_npu_sim(make_test_soc(soc::NumericType::kInt8), 0, **cpu);
  const auto wide = make_npu_sim(make_test_soc(soc::NumericType::kInt16), 0, **cpu);
  for (const OpCase& c : all_op_cases()) {
    if (!c.name.starts_with("linear Q8_0 wide")) continue;
    const auto reason = narrow->supports(*c.graph, c.graph->nodes[c.tested.first], c.shape);
    ASSERT_TRUE(reason) << c.name;
    EXPECT_EQ(reason->code, ReasonCode::kUnsupportedDtype);
    EXPECT_THAT(reason->sentence, ::testing::HasSubstr("marked for 16 bits"));
    // The processor takes them in 16 bits too, to the same bits.
    EXPECT_TRUE(same_results(**cpu, *wide, c)) << c.name;
  }
}

/// y = s sum(w q) + b in double, as docs/npu_sim.md has it.
std::vector<double> static_product(const OpCase& c, int largest_code) {
  const Weight& table = c.graph->weights[0];
  const auto& linear = std::get<LinearAttributes>(c.graph->nodes[c.tested.first].attributes);
  const Weight& w = c.graph->weights[linear.weight];
  const Weight& bias = c.graph->weights[*linear.bias];
  const float scale = w.input->static_scale(largest_code);
  std::vector<float> x(w.columns), row(w.columns), b(w.rows);
  decode_row(bias.type, bias.bytes.data(), b.data(), b.size());
  std::vector<double> out;
  for (uint32_t t = 0; t < c.rows[0]; ++t) {
    const size_t token = (t * 29 + 5) % 64;
    decode_row(table.type, table.bytes.data() + token * row_bytes(table.type, w.columns), x.data(),
               x.size());
    for (uint32_t r = 0; r < w.rows; ++r) {
      decode_row(w.type, w.bytes.data() + r * row_bytes(w.type, w.columns), row.data(), row.size());
      double sum = b[r];
      for (uint32_t k = 0; k < w.columns; ++k) {
        const float code = std::nearbyint(x[k] * (1.0f / scale));
        sum += double{row[k]} * scale * std::clamp<float>(code, -largest_code, largest_code);
      }
      out.push_back(sum);
    }
  }
  return out;
}

TEST(NpuSimConformance, StaticCodesFollowTheFormula) {
  const auto cpu = make_cpu_device({.n_threads = 2});
  for (const auto& [type, largest] : {std::pair{soc::NumericType::kInt8, kInt8CodeMax},
                                      std::pair{soc::NumericType::kInt16, kInt16CodeMax}}) {
    const auto npu = make_npu_sim(make_test_soc(type, soc::ActivationScale::kStatic), 0, **cpu);
    for (const OpCase& c : all_op_cases()) {
      if (!c.name.starts_with("linear Q8_0 calibrated")) continue;
      const std::vector<float> ours = results_of(*npu, c);
      const std::vector<double> expected = static_product(c, largest);
      ASSERT_EQ(ours.size(), expected.size());
      for (size_t i = 0; i < ours.size(); ++i) {
        // f32 sums of eight groups of 32; the products are of size 1 to 100.
        EXPECT_NEAR(ours[i], expected[i], 1e-4) << c.name << ", element " << i;
      }
    }
  }
}

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
        const bool is_fp8 = c.name.starts_with("linear MXFP8");
        const CaseResult result = check_case(*npu, c, is_fp8 ? kFp8Bound : kDefaultBound);
        EXPECT_NE(result.verdict, Verdict::kWrong)
            << name << ", " << result.name << ": " << result.detail;
      }
    }
  }
}

}  // namespace
}  // namespace tandem::testing
