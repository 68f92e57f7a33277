#include "formats/gguf_source.h"

#include <gmock/gmock.h>

#include <cstring>
#include <thread>

#include "formats/gguf_test_bytes.h"
#include "tensor/convert.h"

namespace tandem {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// A matrix of 3 rows in Q8_0, an F16 vector and an I32 vector.
class GgufSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    GgufBytes out(3, 1);
    out.text_pair("general.architecture", "llama");
    out.tensor("matrix", {64, 3}, static_cast<uint32_t>(DType::kQ8_0), 0);
    out.tensor("vector", {4}, static_cast<uint32_t>(DType::kF16), 224);
    out.tensor("ids", {2}, static_cast<uint32_t>(DType::kI32), 256);
    out.pad();
    for (int i = 0; i < 192; ++i) values_.push_back(static_cast<float>(i % 17) - 8.0f);
    matrix_.resize(row_bytes(DType::kQ8_0, 192));
    encode_row(DType::kQ8_0, values_.data(), matrix_.data(), 192);
    for (const std::byte b : matrix_) out.number(b);
    out.pad();
    for (const uint16_t half : {0x3c00, 0xc000, 0x3800, 0x0000}) out.number<uint16_t>(half);
    out.pad().number(7).number(-9);
    bytes_ = out.bytes();
    auto file = parse_gguf_bytes(bytes_);
    ASSERT_TRUE(file.has_value()) << file.error().message;
    source_ = make_gguf_source(std::move(*file));
  }

  std::vector<float> values_;
  std::vector<std::byte> matrix_;
  std::string bytes_;
  std::unique_ptr<const WeightSource> source_;
};

TEST_F(GgufSourceTest, ListsTensorsAsTheyAreStored) {
  ASSERT_EQ(source_->tensors().size(), 3u);
  const SourceTensor& matrix = source_->tensors()[0];
  EXPECT_EQ(matrix.name, "matrix");
  EXPECT_THAT(matrix.dims, ElementsAre(64, 3));
  EXPECT_EQ(matrix.n_rows(), 3u);
  EXPECT_EQ(matrix.n_elements(), 192u);
  EXPECT_EQ(matrix.exact_type, DType::kQ8_0);
  EXPECT_EQ(matrix.stored_type, "Q8_0");
  EXPECT_EQ(matrix.stored_bytes, 204u);
  EXPECT_EQ(source_->tensors()[1].n_rows(), 1u);
  EXPECT_EQ(source_->find("vector"), 1u);
  EXPECT_EQ(source_->find("none"), std::nullopt);
  EXPECT_EQ(source_->metadata().string("general.architecture"), "llama");
  EXPECT_EQ(source_->format(), "GGUF v3");
}

TEST_F(GgufSourceTest, DecodesAnyRows) {
  std::vector<float> expected(192);
  decode_row(DType::kQ8_0, matrix_.data(), expected.data(), 192);
  std::vector<float> rows(192, -1.0f);
  ASSERT_TRUE(source_->read_rows(0, 0, 3, rows.data()).has_value());
  EXPECT_EQ(rows, expected);
  std::vector<float> last(64);
  ASSERT_TRUE(source_->read_rows(0, 2, 1, last.data()).has_value());
  EXPECT_TRUE(std::equal(last.begin(), last.end(), expected.begin() + 128));
  float vector[4];
  ASSERT_TRUE(source_->read_rows(1, 0, 1, vector).has_value());
  EXPECT_THAT(vector, ElementsAre(1.0f, -2.0f, 0.5f, 0.0f));
}

TEST_F(GgufSourceTest, CopiesBytesUnchanged) {
  std::vector<std::byte> rows(136);
  ASSERT_TRUE(source_->read_exact(0, 1, 2, rows.data()).has_value());
  EXPECT_TRUE(std::equal(rows.begin(), rows.end(), matrix_.begin() + 68));
  int32_t ids[2];
  ASSERT_TRUE(source_->read_exact(2, 0, 1, reinterpret_cast<std::byte*>(ids)).has_value());
  EXPECT_THAT(ids, ElementsAre(7, -9));
  const auto mapped = source_->mapped(0);
  ASSERT_TRUE(mapped.has_value());
  EXPECT_TRUE(std::equal(mapped->bytes.begin(), mapped->bytes.end(), matrix_.begin()));
}

TEST_F(GgufSourceTest, RefusesRowsOutsideTheTensorWithoutOverflow) {
  float out[64];
  for (const auto& [first, n] : std::vector<std::pair<uint64_t, uint64_t>>{
           {3, 1}, {0, 4}, {2, UINT64_MAX}, {UINT64_MAX, 2}}) {
    const auto result = source_->read_rows(0, first, n, out);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(result.error().message, AllOf(HasSubstr("m.gguf"), HasSubstr("matrix")));
  }
  EXPECT_TRUE(source_->read_rows(0, 3, 0, out).has_value());
  EXPECT_FALSE(source_->read_rows(3, 0, 1, out).has_value());
}

TEST_F(GgufSourceTest, RefusesToDecodeWhatHoldsNoWeights) {
  float out[2];
  const auto result = source_->read_rows(2, 0, 1, out);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(result.error().message, AllOf(HasSubstr("ids"), HasSubstr("I32")));
}

TEST_F(GgufSourceTest, ReadsFromManyThreads) {
  std::vector<float> expected(192);
  decode_row(DType::kQ8_0, matrix_.data(), expected.data(), 192);
  std::vector<float> rows(192);
  std::vector<std::thread> threads;
  for (uint64_t row = 0; row < 3; ++row) {
    threads.emplace_back([&, row] {
      EXPECT_TRUE(source_->read_rows(0, row, 1, rows.data() + 64 * row).has_value());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(rows, expected);
}

}  // namespace
}  // namespace tandem
