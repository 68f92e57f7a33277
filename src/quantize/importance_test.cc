// Importance matrices of llama.cpp, and what calibration sees.

#include "quantize/importance.h"

#include <gmock/gmock.h>

#include <cmath>

#include "formats/gguf_test_bytes.h"
#include "formats/gguf_writer.h"
#include "quantize/calibrator.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

/// A file as llama-imatrix lays it out (tools/imatrix of llama.cpp, save_imatrix): sums (K, n_mat)
/// and counts (1, n_mat) in F32.
struct ImatrixFile {
  TestFolder folder;
  std::vector<std::vector<float>> values;
  std::vector<TensorToWrite> tensors;
  Metadata metadata;

  ImatrixFile() { metadata.set("general.type", std::string("imatrix")); }
  void add(const std::string& name, std::vector<uint64_t> dims, std::vector<float> numbers) {
    values.push_back(std::move(numbers));
    const size_t i = values.size() - 1;
    tensors.push_back({name, DType::kF32, std::move(dims), [this, i] {
                         return Result<std::span<const std::byte>>(
                             std::as_bytes(std::span(values[i])));
                       }});
  }
  std::string write() {
    metadata.set("general.architecture", std::string("imatrix"));
    EXPECT_TRUE(write_gguf(folder.path("imatrix.gguf"), metadata, tensors));
    return folder.path("imatrix.gguf");
  }
};

TEST(Imatrix, GivesTheMeanSquareOfEachChannel) {
  ImatrixFile file;
  file.add("blk.0.attn_q.weight.in_sum2", {4, 1}, {2, 4, 6, 8});
  file.add("blk.0.attn_q.weight.counts", {1, 1}, {2});
  file.add("blk.0.ffn_up_exps.weight.in_sum2", {2, 3}, {1, 2, 3, 4, 5, 6});
  file.add("blk.0.ffn_up_exps.weight.counts", {1, 3}, {1, 1, 1});
  file.add("blk.1.attn_q.weight.in_sum2", {4, 1}, {0, 0, 0, 0});
  file.add("blk.1.attn_q.weight.counts", {1, 1}, {0});
  const auto statistics = load_imatrix(file.write());
  ASSERT_TRUE(statistics) << statistics.error().message;
  EXPECT_EQ(statistics->at("blk.0.attn_q.weight")->importance(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(statistics->at("blk.0.ffn_up_exps.weight")->importance(), (std::vector<float>{3, 4}));
  EXPECT_FALSE(statistics->contains("blk.1.attn_q.weight")) << "never seen, so not known";
}

TEST(Imatrix, WrongFilesAreNamed) {
  ImatrixFile no_counts;
  no_counts.add("a.weight.in_sum2", {2, 1}, {1, 2});
  EXPECT_THAT(load_imatrix(no_counts.write()).error().message,
              HasSubstr("'a.weight.counts' is missing"));
  ImatrixFile nan;
  nan.add("a.weight.in_sum2", {2, 1}, {1, NAN});
  nan.add("a.weight.counts", {1, 1}, {1});
  EXPECT_THAT(load_imatrix(nan.write()).error().message, HasSubstr("element 1 is nan"));
  ImatrixFile model;
  model.metadata.set("general.type", std::string("model"));
  EXPECT_THAT(load_imatrix(model.write()).error().message, HasSubstr("expected 'imatrix'"));
}

TEST(Statistics, OutliersStandOutFromTheRest) {
  InputStatistics s;
  s.n_rows = 10;
  s.sum_squares.assign(100, 10.0);
  s.largest.assign(100, 2.0f);
  s.largest[17] = 60.0f;
  EXPECT_EQ(s.outliers(20.0f), std::vector<uint32_t>{17});
  EXPECT_TRUE(s.outliers(61.0f).empty());
}

class DemoCalibration : public ::testing::Test {
 protected:
  static std::unique_ptr<Calibrator> calibrate(const std::string& text) {
    auto model = Model::load(TANDEM_SOURCE_DIR "/models/demo/demo-f16.gguf");
    EXPECT_TRUE(model);
    auto out = Calibrator::create(*model, text, {.n_threads = 2, .window = 32});
    EXPECT_TRUE(out) << out.error().message;
    return std::move(*out);
  }
};

TEST_F(DemoCalibration, SeesEveryTokenOfEveryInput) {
  const auto c =
      calibrate("What is the opposite of small?\n\x1e\n작은 것의 반대는 무엇입니까? big.");
  ASSERT_GE(c->n_tokens(), 16u);
  const auto q = c->statistics("blk.0.attn_q.weight"),
             down = c->statistics("blk.7.ffn_down.weight");
  ASSERT_TRUE(q && down);
  EXPECT_EQ(q, c->statistics("blk.0.attn_v.weight")) << "they share their input";
  EXPECT_NE(q, c->statistics("blk.1.attn_q.weight"));
  EXPECT_EQ(q->n_rows, c->n_tokens());
  EXPECT_EQ(c->statistics("token_embd.weight")->n_rows, c->n_tokens()) << "the head of this model";
  EXPECT_EQ(c->statistics("no.such.weight"), nullptr);
  EXPECT_EQ(down->sum_squares.size(), 768u);
  for (size_t i = 0; i < 768; ++i) {
    const double squares = down->sum_squares[i], largest = down->largest[i];
    ASSERT_LE(largest * largest, squares * 1.0001);
    ASSERT_LE(squares, largest * largest * down->n_rows * 1.0001);
    ASSERT_LE(largest, std::max(-down->minimum, down->maximum));
  }
  EXPECT_GT(c->mean_loss(), 0.5);
  EXPECT_LT(c->mean_loss(), 12.0);
}

TEST_F(DemoCalibration, MomentsAgreeWithThePlainStatistics) {
  const auto c = calibrate("The capital of France is Paris. What is the opposite of small? big.");
  const auto s = c->with_moments("blk.2.ffn_up.weight");
  ASSERT_TRUE(s);
  const size_t n = 256;
  ASSERT_EQ((*s)->moments.size(), n * n);
  for (size_t i = 0; i < n; ++i) {
    const double squares = (*s)->sum_squares[i];
    ASSERT_NEAR((*s)->moments[i * n + i], squares, 1e-4 * squares);
    ASSERT_EQ((*s)->moments[i * n + 7], (*s)->moments[7 * n + i]);
  }
}

TEST_F(DemoCalibration, ShortTextsAreRefused) {
  auto model = Model::load(TANDEM_SOURCE_DIR "/models/demo/demo-f16.gguf");
  const auto c = Calibrator::create(*model, "short", {});
  ASSERT_FALSE(c);
  EXPECT_THAT(c.error().message, HasSubstr("must have at least 16"));
}

}  // namespace
}  // namespace tandem
