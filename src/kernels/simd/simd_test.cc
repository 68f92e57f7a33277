// Every operation of every F32x16 type gives the scalar type's bits, over random and special
// values. A NaN equals any other NaN: which operand's payload survives is the compiler's choice.

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/simd/probe.h"
#include "tests/support/kernel_rows.h"

namespace tandem::kernels::simd {
namespace {

using testing_support::runs_here;

using Words = std::array<uint32_t, 32>;

const char* name_of(Operation operation) {
  constexpr const char* kNames[kOperationCount] = {"Set1",
                                                   "LoadPartial",
                                                   "LoadF16",
                                                   "LoadBf16",
                                                   "Iota",
                                                   "StorePartial",
                                                   "StoreF16",
                                                   "Negate",
                                                   "Add",
                                                   "Subtract",
                                                   "Multiply",
                                                   "Divide",
                                                   "Fma",
                                                   "Max",
                                                   "Min",
                                                   "Abs",
                                                   "SelectLess",
                                                   "Round",
                                                   "ScaleByPowerOf2",
                                                   "ReduceAdd",
                                                   "ReduceMax",
                                                   "Deinterleave",
                                                   "Interleave",
                                                   "Exp",
                                                   "Tanh"};
  return kNames[static_cast<int>(operation)];
}

const std::vector<float>& special_values() {
  static const std::vector<float> values = [] {
    std::vector<float> out;
    for (const uint32_t bits :
         {0x00000000u, 0x00000001u, 0x00012345u, 0x007fffffu, 0x00800000u, 0x3effffffu, 0x3f000000u,
          0x3f000001u, 0x3f7fffffu, 0x3f800000u, 0x3f800001u, 0x3fc00000u, 0x40200000u, 0x3f200000u,
          0x33000000u, 0x38800000u, 0x387fc000u, 0x477fefffu, 0x477ff000u, 0x4b000000u, 0x4b7fffffu,
          0x42b17217u, 0x42b17218u, 0x42cff1b5u, 0x42d00000u, 0x41102b00u, 0x7f000000u, 0x7f7fffffu,
          0x7f800000u, 0x7fc00000u, 0x7f800001u, 0x7fffffffu}) {
      out.push_back(std::bit_cast<float>(bits));
      out.push_back(std::bit_cast<float>(bits | 0x80000000u));
    }
    return out;
  }();
  return values;
}

/// Every second value is special, the others are random numbers of moderate size or random bits.
float draw(std::mt19937& random) {
  switch (random() % 4) {
    case 0:
      return std::bit_cast<float>(static_cast<uint32_t>(random()));
    case 1:
      return std::normal_distribution<float>(0.0f, 8.0f)(random);
    default:
      return special_values()[random() % special_values().size()];
  }
}

ProbeInput draw_input(std::mt19937& random) {
  ProbeInput in;
  for (int i = 0; i < 16; ++i) {
    in.a[i] = draw(random);
    in.b[i] = draw(random);
    in.c[i] = draw(random);
    in.powers[i] = static_cast<float>(static_cast<int>(random() % 505) - 252);
    in.halves[i] = static_cast<uint16_t>(random());
  }
  in.n = static_cast<int>(random() % 17);
  return in;
}

/// Keeps significands, signs and what is not finite.
void bring_near_one(float* values) {
  for (int i = 0; i < 16; ++i) {
    int exponent;
    if (std::isfinite(values[i])) values[i] = std::frexp(values[i], &exponent);
  }
}

Words run(const ProbeRow& row, Operation operation, const ProbeInput& in) {
  Words out;
  out.fill(0x12345678u);
  row.run(operation, in, out.data());
  if (operation == Operation::kStoreF16) return out;
  for (uint32_t& word : out) {
    if (std::isnan(std::bit_cast<float>(word))) word = 0x7fc00000u;
  }
  return out;
}

using Case = std::tuple<ProbeRow, int>;
class EveryOperation : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Rows, EveryOperation,
                         testing::Combine(testing::ValuesIn(probe_rows().begin() + 1,
                                                            probe_rows().end()),
                                          testing::Range(0, kOperationCount)),
                         [](const testing::TestParamInfo<Case>& param) {
                           return std::string(std::get<0>(param.param).name) + "_" +
                                  name_of(static_cast<Operation>(std::get<1>(param.param)));
                         });
// The scalar build has no other rows.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryOperation);

TEST_P(EveryOperation, GivesTheScalarBits) {
  const auto& [row, number] = GetParam();
  if (!runs_here(row.isa)) GTEST_SKIP() << "this processor lacks " << to_string(row.isa);
  const Operation operation = static_cast<Operation>(number);
  std::mt19937 random(1);
  for (int repeat = 0; repeat < 5000; ++repeat) {
    ProbeInput in = draw_input(random);
    if (operation == Operation::kScaleByPowerOf2) bring_near_one(in.a);
    const Words expected = run(probe_rows()[0], operation, in);
    const Words actual = run(row, operation, in);
    for (int i = 0; i < 32; ++i) {
      ASSERT_EQ(actual[i], expected[i])
          << "word " << i << ", a " << in.a[i % 16] << ", b " << in.b[i % 16] << ", n " << in.n;
    }
  }
}

TEST(ScalarF32x16, StorePartialLeavesTheRestAlone) {
  std::mt19937 random(2);
  ProbeInput in = draw_input(random);
  in.n = 5;
  Words out;
  out.fill(0x12345678u);
  probe_rows()[0].run(Operation::kStorePartial, in, out.data());
  EXPECT_EQ(std::memcmp(out.data(), in.a, 5 * sizeof(float)), 0);
  for (int i = 5; i < 32; ++i) EXPECT_EQ(out[i], 0x12345678u);
}

TEST(ScalarF32x16, ReducesByHalves) {
  ProbeInput in{};
  // By halves 2^24 - 2^24 meet first (lanes 0 and 8), so the ones survive; in order they would not.
  in.a[0] = 0x1p24f;
  in.a[8] = -0x1p24f;
  in.a[1] = in.a[2] = in.a[3] = 1.0f;
  Words out{};
  probe_rows()[0].run(Operation::kReduceAdd, in, out.data());
  EXPECT_EQ(std::bit_cast<float>(out[0]), 3.0f);
}

TEST(ScalarF32x16, DeinterleaveSeparatesAndInterleaveJoins) {
  ProbeInput in{};
  for (int i = 0; i < 16; ++i) {
    in.a[i] = static_cast<float>(i);
    in.b[i] = static_cast<float>(16 + i);
  }
  Words out{};
  probe_rows()[0].run(Operation::kDeinterleave, in, out.data());
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(std::bit_cast<float>(out[i]), static_cast<float>(2 * i));
    EXPECT_EQ(std::bit_cast<float>(out[16 + i]), static_cast<float>(2 * i + 1));
  }
  std::memcpy(in.a, out.data(), sizeof in.a);
  std::memcpy(in.b, out.data() + 16, sizeof in.b);
  probe_rows()[0].run(Operation::kInterleave, in, out.data());
  for (int i = 0; i < 32; ++i) EXPECT_EQ(std::bit_cast<float>(out[i]), static_cast<float>(i));
}

TEST(ScalarF32x16, ScalesByPowersOf2AsTheLibrary) {
  std::mt19937 random(3);
  for (int repeat = 0; repeat < 2000; ++repeat) {
    ProbeInput in = draw_input(random);
    for (float& a : in.a) a = 1.0f + 0x1p-24f * static_cast<float>(random() >> 8);
    Words out{};
    probe_rows()[0].run(Operation::kScaleByPowerOf2, in, out.data());
    for (int i = 0; i < 16; ++i) {
      ASSERT_EQ(std::bit_cast<float>(out[i]), std::ldexp(in.a[i], static_cast<int>(in.powers[i])));
    }
  }
}

}  // namespace
}  // namespace tandem::kernels::simd
