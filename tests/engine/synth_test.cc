// Synthesized models: reproducible, neither flat nor certain, with lifted channels.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "formats/gguf_reader.h"
#include "synth/random_weights.h"
#include "synth/synthesize.h"
#include "tests/support/tiny_model.h"

namespace tandem::testing {
namespace {

std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Synthesize, PredictionsAreNeitherFlatNorCertainAndTheBytesAreReproducible) {
  const std::string dir = ::testing::TempDir();
  const auto vocabulary = *open_gguf(TANDEM_SOURCE_DIR "/models/demo/demo-f16.gguf");
  for (const char* name : {"qwen3", "gemma2"}) {
    ModelShape shape = tiny_shape(name);
    shape.vocabulary = 4096;
    for (auto& [key, value] : shape.extra) {
      if (key == "final_logit_softcapping") value = 30.0f;
    }
    SynthOptions options{.shape = shape, .types = WeightTypes(DType::kQ8_0)};
    options.vocabulary = &vocabulary.metadata;
    const auto report = synthesize(dir + "/tandem-a.gguf", options);
    ASSERT_TRUE(report) << report.error().message;
    // A soft cap may keep the head from reaching the target of 0.5.
    EXPECT_NEAR(report->mean_top_probability, 0.5, shape.architecture == "gemma2" ? 0.2 : 0.01);
    options.n_threads = 1;
    ASSERT_TRUE(synthesize(dir + "/tandem-b.gguf", options));
    EXPECT_EQ(read_bytes(dir + "/tandem-a.gguf"), read_bytes(dir + "/tandem-b.gguf"));

    const auto model = *Model::load(dir + "/tandem-a.gguf");
    const auto engine = make_engine(model);
    double sum = 0;
    const auto rows = all_logits(engine, some_tokens(32, 5), 32);
    for (const auto& row : rows) {
      const double best = *std::max_element(row.begin(), row.end());
      double total = 0;
      for (float x : row) total += std::exp(x - best);
      sum += 1 / total;
    }
    EXPECT_GT(sum / 32, 0.3) << name;
    EXPECT_LT(sum / 32, 0.7) << name;
    EXPECT_EQ(model->tokenizer()->n_tokens(), 4096);
  }
  std::filesystem::remove(dir + "/tandem-a.gguf");
  std::filesystem::remove(dir + "/tandem-b.gguf");
}

TEST(RandomWeights, HaveUnitSpreadHeavierTailsAndLiftedChannels) {
  const ModelShape shape = tiny_shape("llama");
  const RandomWeights weights(shape, 7);
  std::vector<float> row(10000);
  weights.fill_row({"token_embd.weight", {10000, 4}, TensorRole::kEmbedding}, 1, row);
  double sum = 0, square = 0, fourth = 0;
  for (float x : row) {
    sum += x;
    square += x * x;
    fourth += double{x} * x * x * x;
  }
  EXPECT_NEAR(sum / 10000, 0, 0.05);
  EXPECT_NEAR(square / 10000, 0.05 * 0.05, 0.0002);
  EXPECT_GT(fourth / 10000 / std::pow(square / 10000, 2), 3.5) << "kurtosis of a normal is 3";

  std::vector<float> norm(256);
  weights.fill_row({"blk.0.attn_norm.weight", {256}, TensorRole::kNorm}, 0, norm);
  EXPECT_EQ(std::count_if(norm.begin(), norm.end(), [](float x) { return std::fabs(x) > 10; }), 3);
}

TEST(Shapes, AreFoundByNameAndTheErrorListsThem) {
  EXPECT_EQ(find_shape("qwen2.5-0.5b")->ffn_width, 4864u);
  const auto unknown = find_shape("GPT-9");
  ASSERT_FALSE(unknown);
  for (const ModelShape& s : known_shapes()) {
    EXPECT_NE(unknown.error().message.find(s.name), std::string::npos);
  }
}

TEST(WeightTypes, FallBackWhereABlockDoesNotFit) {
  const ModelShape shape = *find_shape("Qwen2.5-0.5B");
  const ListedTensor up{"blk.5.ffn_up.weight", {896, 4864}, TensorRole::kMatrix};
  const ListedTensor down{"blk.5.ffn_down.weight", {4864, 896}, TensorRole::kMatrix};
  EXPECT_EQ(WeightTypes::parse("Q4_K_M")->choose(up, shape), DType::kQ5_0);
  EXPECT_EQ(WeightTypes::parse("q4_k")->choose(down, shape), DType::kQ4_K);
  EXPECT_EQ(WeightTypes::parse("Q4_0")->choose(up, shape), DType::kQ4_0);
  EXPECT_FALSE(WeightTypes::parse("i32"));
}

}  // namespace
}  // namespace tandem::testing
