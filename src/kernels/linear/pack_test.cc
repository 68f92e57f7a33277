// Packing keeps every bit of a file's weights.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "kernels/linear/linear.h"
#include "kernels/linear/linear_testing.h"

namespace tandem::kernels {
namespace {

using testing::FileMatrix;
using testing::Guarded;
using testing::GuardedMatrix;

class Pack : public ::testing::TestWithParam<DType> {};

std::string type_name(const ::testing::TestParamInfo<DType>& info) {
  return std::string(name(info.param));
}

void expect_same_floats(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i])) {
      ASSERT_TRUE(std::isnan(actual[i])) << i;
      continue;
    }
    ASSERT_EQ(std::bit_cast<uint32_t>(actual[i]), std::bit_cast<uint32_t>(expected[i])) << i;
  }
}

void expect_unpacks_to_file(const FileMatrix& w) {
  const GuardedMatrix packed(w);
  for (size_t row = 0; row < w.n; ++row) {
    SCOPED_TRACE(row);
    std::vector<float> actual(w.k);
    unpack_row(packed.view, row, actual.data());
    expect_same_floats(actual, w.row(row));
  }
}

TEST_P(Pack, UnpacksToTheFilesValues) {
  const size_t block = info(GetParam()).block_size;
  for (const size_t n : {1, 15, 16, 17, 100}) {
    SCOPED_TRACE(n);
    expect_unpacks_to_file(testing::normal_matrix(GetParam(), n, 3 * block, 1));
  }
}

TEST_P(Pack, UnpacksEveryBitPattern) {
  const size_t block = info(GetParam()).block_size;
  expect_unpacks_to_file(testing::random_bytes_matrix(GetParam(), 64, 11 * block, 2));
}

TEST_P(Pack, TakesTheFilesBytesForWholeTiles) {
  const size_t k = 3 * info(GetParam()).block_size;
  const size_t odd_pair = GetParam() == DType::kBF16 ? 48 * 2 : 0;
  EXPECT_EQ(packed_bytes(GetParam(), 48, k), 48 * row_bytes(GetParam(), k) + odd_pair);
}

TEST_P(Pack, RangesOfRowsMakeTheSameBytes) {
  const size_t k = 2 * info(GetParam()).block_size;
  const FileMatrix w = testing::random_bytes_matrix(GetParam(), 75, k, 3);
  const size_t n_bytes = packed_bytes(w.type, w.n, k);
  // Packing must not depend on what the memory held.
  std::vector<std::byte> whole(n_bytes, std::byte{0x55}), parts(n_bytes, std::byte{0xaa});
  pack_rows(w.type, w.bytes.data(), w.n, k, 0, w.n, whole.data());
  pack_rows(w.type, w.bytes.data(), w.n, k, 48, 75, parts.data());
  pack_rows(w.type, w.bytes.data(), w.n, k, 0, 16, parts.data());
  pack_rows(w.type, w.bytes.data(), w.n, k, 16, 48, parts.data());
  EXPECT_EQ(std::memcmp(whole.data(), parts.data(), n_bytes), 0);
}

TEST_P(Pack, ReadsNothingBehindTheFile) {
  const size_t k = info(GetParam()).block_size;
  const FileMatrix w = testing::normal_matrix(GetParam(), 17, k, 4);
  Guarded<std::byte> file(w.bytes.size());
  std::memcpy(file.data(), w.bytes.data(), w.bytes.size());
  Guarded<std::byte> packed(packed_bytes(w.type, w.n, k));
  pack_rows(w.type, file.data(), w.n, k, 0, w.n, packed.data());
  std::vector<float> row(k);
  unpack_row({w.type, w.n, k, packed.data()}, 16, row.data());
  expect_same_floats(row, w.row(16));
}

INSTANTIATE_TEST_SUITE_P(AllTypes, Pack, ::testing::ValuesIn(testing::weight_types()), type_name);

}  // namespace
}  // namespace tandem::kernels
