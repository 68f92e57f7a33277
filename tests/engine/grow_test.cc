// Growing a trained model to a larger shape keeps its function.

#include "synth/grow.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/conversation.h"
#include "tests/support/tiny_model.h"

namespace tandem::testing {
namespace {

/// Larger than the demo model in every size, with another grouping of heads and a head size of
/// twice the demo's.
const ModelShape kShape{.name = "test",
                        .architecture = "qwen3",
                        .n_layers = 10,
                        .width = 512,
                        .n_heads = 12,
                        .n_kv_heads = 4,
                        .key_size = 128,
                        .value_size = 96,
                        .ffn_width = 1024,
                        .vocabulary = 4200,
                        .context_length = 1024};

std::shared_ptr<const Model> demo_model() {
  auto model = Model::load(TANDEM_SOURCE_DIR "/models/demo/demo-f16.gguf");
  EXPECT_TRUE(model) << model.error().message;
  return *model;
}

std::shared_ptr<Engine> grown_engine(const ModelShape& shape) {
  const std::string path =
      std::filesystem::path(::testing::TempDir()) / fmt::format("tandem-grown-{}.gguf", getpid());
  const auto grown = grow(path, *demo_model(), {.shape = shape, .n_threads = 2});
  EXPECT_TRUE(grown) << grown.error().message;
  auto model = Model::load(path);
  EXPECT_TRUE(model) << model.error().message;
  unlink(path.c_str());
  return make_engine(*model, {.n_threads = 2});
}

std::vector<TokenId> heldout_tokens(const Tokenizer& tokenizer, size_t n) {
  std::ifstream in(TANDEM_SOURCE_DIR "/models/demo/heldout.txt");
  std::string text(3000, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  auto tokens = *tokenizer.encode(text);
  tokens.resize(n);
  return tokens;
}

TEST(Grow, LogitsOfTheOldTokensStay) {
  const auto small = make_engine(demo_model(), {.n_threads = 2});
  const auto large = grown_engine(kShape);
  const auto tokens = heldout_tokens(*small->model().tokenizer(), 150);
  const auto expected = all_logits(small, tokens, 150), found = all_logits(large, tokens, 150);
  double error = 0, power = 0;
  for (size_t t = 0; t < tokens.size(); ++t) {
    // A constant that the added channel gives every old token alike shifts no probability.
    const double shift = found[t][0] - expected[t][0];
    float best_added = -INFINITY;
    for (size_t i = 0; i < 4096; ++i) {
      const double d = found[t][i] - expected[t][i] - shift;
      error += d * d;
      power += expected[t][i] * expected[t][i];
    }
    for (size_t i = 4096; i < 4200; ++i) best_added = std::max(best_added, found[t][i]);
    EXPECT_LT(best_added, *std::max_element(found[t].begin(), found[t].begin() + 4096) - 5);
  }
  // Float rounding, and keys rounded to f16 after another factor: measured 2e-6.
  EXPECT_LT(error / power, 1e-5);
}

TEST(Grow, GreedyAnswersStay) {
  const auto small = make_engine(demo_model(), {.n_threads = 2});
  const auto large = grown_engine(kShape);
  std::ifstream in(TANDEM_SOURCE_DIR "/models/demo/eval_diagnosis.jsonl");
  size_t n_rows = 0;
  for (std::string line; n_rows < 20 && std::getline(in, line); ++n_rows) {
    const std::string question = nlohmann::json::parse(line)["user"];
    std::string texts[2];
    for (int i = 0; i < 2; ++i) {
      auto engine = i == 0 ? small : large;
      auto conversation = *Conversation::create(engine, {});
      Sampler sampler =
          *Sampler::create({.temperature = 0}, static_cast<int32_t>(engine->vocabulary()),
                           static_cast<int32_t>(engine->context()));
      texts[i] = conversation.ask(question, sampler, {.max_tokens = 64})->text;
    }
    EXPECT_EQ(texts[0], texts[1]) << question;
  }
  EXPECT_EQ(n_rows, 20u);
}

TEST(Grow, ShapesThatDoNotFitAreRefusedByName) {
  const auto model = demo_model();
  const auto message = [&](const ModelShape& shape) {
    const auto outcome = grow("/nonexistent/never.gguf", *model, {.shape = shape});
    return outcome ? std::string("accepted") : outcome.error().message;
  };
  ModelShape shape = kShape;
  shape.n_layers = 7;
  EXPECT_NE(message(shape).find("layer count is 7, the model already has 8"), std::string::npos);
  shape = kShape;
  shape.key_size = 96;
  EXPECT_NE(message(shape).find("multiple of 64"), std::string::npos);
  shape = kShape;
  shape.architecture = "llama";
  EXPECT_NE(message(shape).find("both must be qwen3"), std::string::npos);
  shape = kShape;
  shape.width = 256;
  EXPECT_NE(message(shape).find("constant channel"), std::string::npos);
}

}  // namespace
}  // namespace tandem::testing
