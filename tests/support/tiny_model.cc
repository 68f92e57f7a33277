#include "tests/support/tiny_model.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "engine/session.h"
#include "synth/synthesize.h"

namespace tandem::testing {
namespace {

ModelShape base_shape(const std::string& name, const std::string& architecture) {
  return {.name = name,
          .architecture = architecture,
          .n_layers = 3,
          .width = 64,
          .n_heads = 4,
          .n_kv_heads = 2,
          .key_size = 16,
          .value_size = 16,
          .ffn_width = 96,
          .vocabulary = 512,
          .context_length = 64};
}

}  // namespace

std::vector<std::string> tiny_shape_names() {
  return {"bitnet", "gemma2", "gemma3",  "llama",      "llama-llama3",  "mistral3", "phi3",
          "qwen2",  "qwen3",  "smollm3", "wide-heads", "narrow-values", "untied"};
}

ModelShape tiny_shape(const std::string& name) {
  const bool special =
      name == "llama-llama3" || name == "wide-heads" || name == "narrow-values" || name == "untied";
  ModelShape s = base_shape(name, special ? "llama" : name);
  if (name == "gemma2" || name == "gemma3") s.window = 8;
  if (name == "gemma2") {
    s.extra = {{"attn_logit_softcapping", 5.0f}, {"final_logit_softcapping", 3.0f}};
  }
  if (name == "llama-llama3") {
    s.llama3_factor = 8.0f;
    s.original_context = 16;
  }
  if (name == "mistral3") {
    s.original_context = 16;
    s.extra = {{"rope.scaling.type", std::string("yarn")},
               {"rope.scaling.factor", 4.0f},
               {"attention.temperature_scale", 0.1f}};
  }
  if (name == "phi3") {
    s.longrope = true;
    s.original_context = 16;
    s.n_rotated = 12;
  }
  if (name == "qwen2") s.qkv_bias = true;
  if (name == "smollm3") s.n_layers = 4;
  if (name == "wide-heads") s.key_size = s.value_size = 48;
  if (name == "narrow-values") {
    s.key_size = 32;
    s.value_size = 8;
  }
  if (name == "untied") s.tied = false;
  return s;
}

std::shared_ptr<const Model> make_tiny_model(const ModelShape& shape, DType type, uint64_t seed) {
  const std::string path =
      std::filesystem::path(::testing::TempDir()) /
      fmt::format("tandem-{}-{}-{}-{}.gguf", getpid(), shape.name, name(type), seed);
  SynthOptions options{.shape = shape,
                       .types = WeightTypes(type),
                       .seed = seed,
                       .n_threads = 1,
                       .mean_top_probability = 0};
  const auto written = synthesize(path, options);
  EXPECT_TRUE(written) << written.error().message;
  auto model = Model::load(path);
  EXPECT_TRUE(model) << model.error().message;
  unlink(path.c_str());  // the mapping keeps the file alive
  return *model;
}

std::vector<TokenId> some_tokens(size_t n, uint64_t seed) {
  std::vector<TokenId> out(n);
  uint64_t state = seed * 0x9e3779b97f4a7c15ull;
  for (TokenId& id : out) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    id = static_cast<TokenId>(state >> 33) % 512;
  }
  return out;
}

std::vector<std::vector<float>> all_logits(const std::shared_ptr<Engine>& engine,
                                           const std::vector<TokenId>& tokens, size_t chunk) {
  auto session = Session::create(engine);
  TANDEM_CHECK(session);
  std::vector<std::vector<float>> out;
  for (size_t done = 0; done < tokens.size(); done += chunk) {
    const auto part = std::span(tokens).subspan(done, std::min(chunk, tokens.size() - done));
    const auto outcome = (*session)->append_visiting_logits(
        part, [&](size_t, std::span<const float> row) -> Result<void> {
          out.emplace_back(row.begin(), row.end());
          return {};
        });
    EXPECT_TRUE(outcome) << outcome.error().message;
  }
  return out;
}

std::vector<std::vector<float>> greedy_logits(const std::shared_ptr<Engine>& engine,
                                              const std::vector<TokenId>& prompt,
                                              size_t n_generated) {
  auto session = Session::create(engine);
  TANDEM_CHECK(session);
  std::vector<std::vector<float>> out;
  auto appended = (*session)->append(prompt);
  for (size_t i = 0; i <= n_generated; ++i) {
    EXPECT_TRUE(appended) << appended.error().message;
    if (!appended) return out;
    const auto logits = (*session)->logits();
    out.emplace_back(logits.begin(), logits.end());
    const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
    const auto next = static_cast<TokenId>(best);
    appended = (*session)->append({&next, 1});
  }
  return out;
}

std::shared_ptr<Engine> make_engine(std::shared_ptr<const Model> model,
                                    const EngineOptions& options) {
  auto engine = Engine::create(std::move(model), options);
  EXPECT_TRUE(engine) << engine.error().message;
  return *engine;
}

}  // namespace tandem::testing
