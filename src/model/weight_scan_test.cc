#include "model/weight_scan.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

namespace tandem {
namespace {

/// A file of one matrix of 3 rows of 64 elements.
ModelFile file_of(DType type, std::vector<std::byte>& bytes) {
  bytes.assign(3 * row_bytes(type, 64), std::byte{0});
  ModelFile file;
  file.tensors.push_back(
      {.name = "blk.0.ffn_up.weight", .type = type, .dims = {64, 3}, .bytes = bytes});
  return file;
}

TEST(WeightScan, AcceptsFiniteWeights) {
  std::vector<std::byte> bytes;
  for (const DType type : {DType::kF32, DType::kF16, DType::kQ4_0, DType::kQ8_0}) {
    EXPECT_TRUE(check_weights_finite(file_of(type, bytes)));
  }
}

TEST(WeightScan, NamesTensorRowAndBlockOfANanScale) {
  std::vector<std::byte> bytes;
  const ModelFile file = file_of(DType::kQ4_0, bytes);
  const uint16_t infinity = 0x7c00;  // what a scale beyond 65504 becomes
  std::memcpy(bytes.data() + 5 * 18, &infinity, sizeof infinity);
  const auto outcome = check_weights_finite(file);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kNumeric);
  EXPECT_NE(outcome.error().message.find("tensor blk.0.ffn_up.weight: row 2, element 32: a block "
                                         "scale that is NaN or infinite"),
            std::string::npos)
      << outcome.error().message;
}

TEST(WeightScan, NamesTheElementOfANanValue) {
  std::vector<std::byte> bytes;
  const ModelFile file = file_of(DType::kF32, bytes);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(bytes.data() + (64 + 7) * 4, &nan, sizeof nan);
  EXPECT_NE(check_weights_finite(file).error().message.find("row 1, element 7: a value"),
            std::string::npos);
}

}  // namespace
}  // namespace tandem
