// Every weight format against ggml: goldens in tests/data/blocks, written by
// tests/reference/ggml_blocks (each file names the command).

#include "tensor/convert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/reference/ggml_blocks/block_vectors.h"

namespace tandem {
namespace {

/// Encoders whose formula leaves no freedom give ggml's bytes; the searching ones may differ and
/// are compared by error.
constexpr DType kSameBytes[] = {DType::kQ4_0, DType::kQ4_1, DType::kQ5_0,
                                DType::kQ5_1, DType::kQ8_0, DType::kMXFP4};
constexpr DType kSearched[] = {DType::kQ2_K, DType::kQ3_K,   DType::kQ4_K,   DType::kQ5_K,
                               DType::kQ6_K, DType::kIQ4_NL, DType::kIQ4_XS, DType::kQ2_0};
/// A searching encoder's rmse may exceed ggml's by this much on any data set.
constexpr double kRmseRatio = 1.01;

std::vector<DType> quantized_types() {
  std::vector<DType> out(std::begin(kSameBytes), std::end(kSameBytes));
  out.insert(out.end(), std::begin(kSearched), std::end(kSearched));
  return out;
}

std::string lower_name(DType type) {
  std::string out(name(type));
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

nlohmann::json goldens(DType type) {
  std::ifstream in(TANDEM_SOURCE_DIR "/tests/data/blocks/" + lower_name(type) + ".json");
  return nlohmann::json::parse(in);
}

std::string hex(uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::vector<std::byte> from_hex(const std::string& text) {
  std::vector<std::byte> out;
  for (size_t i = 0; i < text.size(); i += 2) {
    out.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return out;
}

std::vector<float> decoded(DType type, std::span<const std::byte> row) {
  const DTypeInfo& i = info(type);
  std::vector<float> out(row.size() / i.block_bytes * i.block_size);
  decode_row(type, row.data(), out.data(), out.size());
  return out;
}

std::vector<std::byte> encoded(DType type, std::span<const float> values) {
  std::vector<std::byte> out(row_bytes(type, values.size()));
  encode_row(type, values.data(), out.data(), values.size());
  return out;
}

std::string test_name(const testing::TestParamInfo<DType>& param) {
  return std::string(name(param.param));
}

class QuantizedFormat : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(All, QuantizedFormat, testing::ValuesIn(quantized_types()), test_name);

TEST_P(QuantizedFormat, DecodesTheExampleBlockAsGgml) {
  const nlohmann::json example = goldens(GetParam())["decode"]["example"];
  const auto expected = example["values"].get<std::vector<float>>();
  const std::vector<float> ours = decoded(GetParam(), from_hex(example["block"]));
  ASSERT_EQ(ours.size(), expected.size());
  for (size_t i = 0; i < ours.size(); ++i) EXPECT_EQ(ours[i], expected[i]) << i;
}

TEST_P(QuantizedFormat, DecodesEveryKindOfBlockBitExactlyAsGgml) {
  const nlohmann::json golden = goldens(GetParam());
  for (const std::string_view kind : block_vectors::kBlockKinds) {
    const std::vector<float> values = decoded(GetParam(), block_vectors::blocks(GetParam(), kind));
    EXPECT_EQ(hex(block_vectors::hash_floats(values)), golden["decode"]["hash"][kind]) << kind;
  }
}

TEST_P(QuantizedFormat, EncodesWithNoMoreErrorThanGgml) {
  const nlohmann::json golden = goldens(GetParam());
  for (const std::string_view kind : block_vectors::kWeightKinds) {
    const std::vector<float> weights = block_vectors::weights(kind);
    const std::vector<float> back = decoded(GetParam(), encoded(GetParam(), weights));
    const double ours = block_vectors::rmse(weights, back);
    const double ggml = golden["encode"][kind]["rmse"];
    EXPECT_LE(ours, kRmseRatio * ggml) << kind << ": ratio " << ours / ggml;
    RecordProperty(std::string(kind), std::to_string(ours / ggml));
  }
}

TEST_P(QuantizedFormat, EncodesBytesWithoutMeaningWithoutUndefinedBehaviour) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const float special : {kInfinity, -kInfinity, kNan, 3e38f, -3e38f, 1e-45f, 1e-38f}) {
    std::vector<float> values(256, 0.5f);
    values[3] = special;
    values[100] = -special;
    EXPECT_EQ(encoded(GetParam(), values).size(), row_bytes(GetParam(), 256));
    EXPECT_EQ(encoded(GetParam(), std::vector<float>(256, special)).size(),
              row_bytes(GetParam(), 256));
  }
}

TEST_P(QuantizedFormat, DecodesFromAnyAddress) {
  const std::vector<std::byte> row = block_vectors::blocks(GetParam(), "typical");
  std::vector<std::byte> shifted(row.size() + 1);
  std::copy(row.begin(), row.end(), shifted.begin() + 1);
  EXPECT_EQ(decoded(GetParam(), std::span(shifted).subspan(1)), decoded(GetParam(), row));
}

/// Decoded values are representable, so the exact encoders find them again.
TEST_P(QuantizedFormat, EncodingIsStableOnItsOwnOutput) {
  const std::vector<float> weights = block_vectors::weights("normal");
  const std::vector<float> once = decoded(GetParam(), encoded(GetParam(), weights));
  const std::vector<float> twice = decoded(GetParam(), encoded(GetParam(), once));
  EXPECT_LE(block_vectors::rmse(once, twice), 0.25 * block_vectors::rmse(weights, once));
}

/// Decoding must show infinity or NaN exactly in the blocks that are reported.
TEST_P(QuantizedFormat, FindsTheFirstBlockWithABrokenScale) {
  const DTypeInfo& i = info(GetParam());
  const std::vector<std::byte> good = block_vectors::blocks(GetParam(), "typical");
  const size_t n = good.size() / i.block_bytes * i.block_size;
  EXPECT_EQ(first_non_finite(GetParam(), good.data(), n), n);
  std::vector<size_t> offsets = block_vectors::f16_offsets(GetParam());
  for (const size_t offset : offsets) {
    for (const uint8_t high : {0x7c, 0xfc, 0x7e}) {
      std::vector<std::byte> bad = good;
      bad[5 * i.block_bytes + offset + 1] = static_cast<std::byte>(high);
      EXPECT_EQ(first_non_finite(GetParam(), bad.data(), n), 5 * i.block_size);
      const std::vector<float> values = decoded(GetParam(), bad);
      const auto broken =
          std::find_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
      EXPECT_EQ((broken - values.begin()) / i.block_size, 5);
    }
  }
  if (!offsets.empty()) return;
  std::vector<std::byte> bad = good;  // MXFP4
  bad[5 * i.block_bytes] = std::byte{255};
  EXPECT_EQ(first_non_finite(GetParam(), bad.data(), n), 5 * i.block_size);
}

TEST(FirstNonFinite, FindsBrokenPlainNumbers) {
  for (const DType type : {DType::kF32, DType::kF16, DType::kBF16}) {
    std::vector<float> values(9, 1.0f);
    EXPECT_EQ(first_non_finite(type, encoded(type, values).data(), 9), 9u);
    for (const float broken :
         {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
          std::numeric_limits<float>::quiet_NaN()}) {
      values[7] = broken;
      EXPECT_EQ(first_non_finite(type, encoded(type, values).data(), 9), 7u) << name(type);
    }
  }
}

class ExactFormat : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(All, ExactFormat, testing::ValuesIn(kSameBytes), test_name);

TEST_P(ExactFormat, EncodesToGgmlsBytes) {
  const nlohmann::json golden = goldens(GetParam());
  for (const std::string_view kind : block_vectors::kWeightKinds) {
    const std::vector<std::byte> ours = encoded(GetParam(), block_vectors::weights(kind));
    EXPECT_EQ(hex(block_vectors::hash_bytes(ours)), golden["encode"][kind]["hash"]) << kind;
  }
}

TEST(ConvertRow, KeepsPlainFloatsAndRoundsHalves) {
  const std::vector<float> values = {0.0f, -0.0f, 1.0f, -2.5f, 65504.0f, 1e-7f, 3e38f, 0.1f};
  EXPECT_EQ(decoded(DType::kF32, encoded(DType::kF32, values)), values);
  const std::vector<float> f16 = decoded(DType::kF16, encoded(DType::kF16, values));
  EXPECT_EQ(f16[4], 65504.0f);
  EXPECT_EQ(f16[5], 0x1p-23f);  // 1.68 of the smallest subnormal 2^-24
  EXPECT_TRUE(std::isinf(f16[6]));
  EXPECT_EQ(f16[7], 0.0999755859375f);
  const std::vector<float> bf16 = decoded(DType::kBF16, encoded(DType::kBF16, values));
  EXPECT_EQ(bf16[4], 65536.0f);
  EXPECT_EQ(bf16[7], 0.10009765625f);
}

/// ggml's exponent byte wraps around below 2^-125; ours stays at the smallest.
TEST(ConvertRow, KeepsMxfp4BlocksBelowTheSmallestExponent) {
  std::vector<float> values(32, 0x1p-140f);
  values[1] = 0x1.8p-127f;
  values[2] = -0x1p-128f;
  std::vector<float> expected(32, 0.0f);
  expected[1] = 0x1.8p-127f;
  expected[2] = -0x1p-128f;
  EXPECT_EQ(decoded(DType::kMXFP4, encoded(DType::kMXFP4, values)), expected);
}

TEST(ConvertRow, TakesEmptyRows) {
  decode_row(DType::kQ4_K, nullptr, nullptr, 0);
  encode_row(DType::kF32, nullptr, nullptr, 0);
}

TEST(HoldsWeights, IsFalseForIntegersAndDoubles) {
  for (const DTypeInfo& i : all_dtypes()) {
    const bool plain_other = i.type == DType::kI8 || i.type == DType::kI16 ||
                             i.type == DType::kI32 || i.type == DType::kI64 ||
                             i.type == DType::kF64;
    EXPECT_EQ(holds_weights(i.type), !plain_other) << i.name;
  }
}

}  // namespace
}  // namespace tandem
