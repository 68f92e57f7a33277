#include "sources/huggingface/model_config.h"

#include <gmock/gmock.h>

#include "sources/huggingface/rope_config.h"
#include "sources/huggingface/tensor_plan.h"

namespace tandem {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Json llama_config() {
  return {{"model_type", "llama"},    {"hidden_size", 64},
          {"num_hidden_layers", 2},   {"num_attention_heads", 4},
          {"num_key_value_heads", 2}, {"intermediate_size", 96},
          {"vocab_size", 512},        {"max_position_embeddings", 128},
          {"rms_norm_eps", 1e-5},     {"rope_theta", 500000.0}};
}

struct ConfigResult {
  DecoderShape shape;
  Metadata metadata;
  std::vector<std::string> warnings;
  Error error{};
  bool good = false;
};

ConfigResult read(const Json& json) {
  ConfigResult out;
  const auto config = JsonConfig::from_value("config.json", json);
  EXPECT_TRUE(config.has_value());
  auto shape = read_model_config(*config, out.metadata, [&](LogLevel, std::string_view text) {
    out.warnings.emplace_back(text);
  });
  out.good = shape.has_value();
  if (shape) out.shape = *std::move(shape);
  if (!out.good) out.error = shape.error();
  return out;
}

std::string refusal(const Json& json, ErrorCode code = ErrorCode::kCorruptFile) {
  const ConfigResult result = read(json);
  EXPECT_FALSE(result.good);
  EXPECT_EQ(to_string(result.error.code), std::string(to_string(code))) << result.error.message;
  EXPECT_THAT(result.error.message, testing::StartsWith("config.json: "));
  return result.error.message;
}

Json with(Json config, const char* key, Json value) {
  config[key] = std::move(value);
  return config;
}

TEST(ModelConfig, WritesGgufKeys) {
  const ConfigResult r = read(llama_config());
  ASSERT_TRUE(r.good) << r.error.message;
  EXPECT_EQ(r.metadata.string("general.architecture"), "llama");
  EXPECT_EQ(r.metadata.u32("llama.block_count"), 2u);
  EXPECT_EQ(r.metadata.u32("llama.embedding_length"), 64u);
  EXPECT_EQ(r.metadata.u32("llama.feed_forward_length"), 96u);
  EXPECT_EQ(r.metadata.u32("llama.context_length"), 128u);
  EXPECT_EQ(r.metadata.u32("llama.attention.head_count"), 4u);
  EXPECT_EQ(r.metadata.u32("llama.attention.head_count_kv"), 2u);
  EXPECT_EQ(r.metadata.u32("llama.attention.key_length"), 16u);
  EXPECT_EQ(r.metadata.u32("llama.rope.dimension_count"), 16u);
  EXPECT_EQ(r.metadata.f32("llama.rope.freq_base"), 500000.0f);
  EXPECT_EQ(r.metadata.f32("llama.attention.layer_norm_rms_epsilon"), 1e-5f);
  EXPECT_EQ(r.metadata.u32("llama.vocab_size"), 512u);
  EXPECT_FALSE(r.shape.tied_embeddings);
  EXPECT_TRUE(r.warnings.empty());
}

TEST(ModelConfig, MapsEveryModelType) {
  const std::vector<std::pair<const char*, const char*>> types{
      {"llama", "llama"}, {"mistral", "llama"}, {"smollm3", "smollm3"}, {"qwen2", "qwen2"},
      {"qwen3", "qwen3"}, {"phi3", "phi3"},     {"bitnet", "bitnet"}};
  for (const auto& [type, architecture] : types) {
    const ConfigResult r = read(with(llama_config(), "model_type", type));
    ASSERT_TRUE(r.good) << r.error.message;
    EXPECT_EQ(r.shape.architecture, architecture);
  }
  EXPECT_THAT(refusal(with(llama_config(), "model_type", "mamba"), ErrorCode::kUnsupported),
              AllOf(HasSubstr("mamba"), HasSubstr("known are llama, mistral")));
  Json none = llama_config();
  none.erase("model_type");
  EXPECT_THAT(refusal(none), HasSubstr("model_type is missing"));
}

TEST(ModelConfig, TakesTheLanguagePartOfAMultimodalModel) {
  Json text = llama_config();
  text["model_type"] = "gemma3_text";
  text["head_dim"] = 16;
  text["query_pre_attn_scalar"] = 16;
  text["sliding_window"] = 8;
  text.erase("vocab_size");
  text.erase("max_position_embeddings");
  const ConfigResult r =
      read({{"model_type", "gemma3"}, {"text_config", text}, {"vision_config", {{"x", 1}}}});
  ASSERT_TRUE(r.good) << r.error.message;
  EXPECT_EQ(r.shape.architecture, "gemma3");
  EXPECT_EQ(r.shape.vocabulary, 262208u);
  EXPECT_EQ(r.metadata.u32("gemma3.context_length"), 131072u);
  EXPECT_EQ(r.metadata.u32("gemma3.attention.sliding_window"), 8u);
  EXPECT_TRUE(r.shape.tied_embeddings);
}

// Field report A11: an explicit head size wins over width / heads.
TEST(ModelConfig, ExplicitHeadSizeWins) {
  Json config = llama_config();
  config["hidden_size"] = 48;
  config["head_dim"] = 16;
  const ConfigResult r = read(config);
  ASSERT_TRUE(r.good) << r.error.message;
  EXPECT_EQ(r.metadata.u32("llama.attention.key_length"), 16u);
  EXPECT_EQ(r.metadata.u32("llama.attention.value_length"), 16u);
  const auto plan = plan_tensors(r.shape, CheckpointNames::kHuggingFace);
  EXPECT_EQ(plan[2].name + " " + plan[2].stored,
            "blk.0.attn_q.weight model.layers.0.self_attn.q_proj.weight");
  EXPECT_EQ(plan[2].rows, 64u);
  EXPECT_EQ(plan[2].columns, 48u);
  EXPECT_EQ(plan[4].rows, 32u);
  EXPECT_EQ(plan[2].head_rows, 16u);
  EXPECT_THAT(refusal(with(config, "num_key_value_heads", 3)),
              AllOf(HasSubstr("3"), HasSubstr("must divide")));
}

// Field report A08: both spellings of the key, and the published multipliers.
TEST(ModelConfig, Llama3ScalingInBothSpellings) {
  for (const char* key : {"type", "rope_type"}) {
    for (const char* object : {"rope_scaling", "rope_parameters"}) {
      Json config = llama_config();
      config["head_dim"] = 64;
      config[object] = {{key, "llama3"},          {"factor", 32.0},
                        {"low_freq_factor", 1.0}, {"high_freq_factor", 4.0},
                        {"rope_theta", 500000.0}, {"original_max_position_embeddings", 8192}};
      const ConfigResult r = read(config);
      ASSERT_TRUE(r.good) << r.error.message;
      ASSERT_EQ(r.shape.computed.size(), 1u);
      EXPECT_EQ(r.shape.computed[0].first, "rope_freqs.weight");
      const auto& divisors = r.shape.computed[0].second;
      ASSERT_EQ(divisors.size(), 32u);
      for (int i = 0; i < 15; ++i) EXPECT_EQ(divisors[static_cast<size_t>(i)], 1.0f) << i;
      EXPECT_NEAR(1 / divisors[15], 0.605573, 1e-5);
      EXPECT_NEAR(1 / divisors[16], 0.303743, 1e-5);
      EXPECT_NEAR(1 / divisors[17], 0.103448, 1e-5);
      for (size_t i = 18; i < 32; ++i) EXPECT_EQ(divisors[i], 32.0f) << i;
    }
  }
}

TEST(ModelConfig, Llama3ScalingOfASmallHead) {
  const auto divisors = llama3_divisors({16, 10000.0f, 8.0f, 1.0f, 4.0f, 64});
  EXPECT_EQ(divisors[0], 1.0f);
  EXPECT_NEAR(1 / divisors[1], 0.772812, 1e-5);
  EXPECT_NEAR(1 / divisors[2], 0.130423, 1e-5);
  for (size_t i = 3; i < 8; ++i) EXPECT_EQ(divisors[i], 8.0f);
}

TEST(ModelConfig, OtherRopeScalings) {
  Json linear = with(llama_config(), "rope_scaling", {{"type", "linear"}, {"factor", 4}});
  ConfigResult r = read(linear);
  ASSERT_TRUE(r.good) << r.error.message;
  EXPECT_EQ(r.metadata.string("llama.rope.scaling.type"), "linear");
  EXPECT_EQ(r.metadata.f32("llama.rope.scaling.factor"), 4.0f);

  Json yarn =
      with(with(llama_config(), "model_type", "qwen3"), "rope_scaling",
           {{"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 32}});
  r = read(yarn);
  ASSERT_TRUE(r.good) << r.error.message;
  EXPECT_EQ(r.metadata.string("qwen3.rope.scaling.type"), "yarn");
  EXPECT_EQ(r.metadata.u32("qwen3.rope.scaling.original_context_length"), 32u);
  EXPECT_FALSE(r.metadata.contains("qwen3.rope.scaling.attn_factor"));

  r = read(with(llama_config(), "rope_scaling", {{"type", "dynamic"}, {"factor", 2.0}}));
  ASSERT_TRUE(r.good);
  EXPECT_EQ(r.warnings.size(), 1u);
  EXPECT_TRUE(read(with(llama_config(), "rope_scaling", {{"rope_type", "default"}})).good);
  EXPECT_TRUE(read(with(llama_config(), "rope_scaling", nullptr)).good);

  EXPECT_THAT(
      refusal(with(llama_config(), "rope_scaling", {{"type", "mrope"}}), ErrorCode::kUnsupported),
      HasSubstr("mrope"));
  EXPECT_THAT(refusal(with(llama_config(), "rope_scaling", {{"type", "linear"}})),
              HasSubstr("factor must be a positive number"));
  EXPECT_THAT(refusal(with(llama_config(), "rope_scaling", 8)), HasSubstr("must be an object"));
}

/// Ministral 3's settings as its config.json has them.
TEST(ModelConfig, Ministral3) {
  Json text = llama_config();
  text["model_type"] = "ministral3";
  text["rope_parameters"] = {{"rope_type", "yarn"},
                             {"type", "yarn"},
                             {"rope_theta", 1000000.0},
                             {"factor", 16.0},
                             {"beta_fast", 32.0},
                             {"beta_slow", 1.0},
                             {"mscale", 1.0},
                             {"mscale_all_dim", 1.0},
                             {"original_max_position_embeddings", 16384},
                             {"llama_4_scaling_beta", 0.1}};
  text.erase("rope_theta");
  const ConfigResult r = read({{"model_type", "mistral3"}, {"text_config", text}});
  ASSERT_TRUE(r.good) << r.error.message;
  EXPECT_EQ(r.shape.architecture, "mistral3");
  EXPECT_EQ(r.metadata.f32("mistral3.rope.freq_base"), 1000000.0f);
  EXPECT_EQ(r.metadata.f32("mistral3.rope.scaling.yarn_log_multiplier"), 1.0f);
  EXPECT_EQ(r.metadata.f32("mistral3.attention.temperature_scale"), 0.1f);
  EXPECT_EQ(r.metadata.f32("mistral3.rope.scaling.yarn_beta_fast"), 32.0f);
  EXPECT_FALSE(r.metadata.contains("mistral3.rope.scaling.attn_factor"));
}

TEST(ModelConfig, Phi3LongRope) {
  Json config = with(llama_config(), "model_type", "phi3");
  config["partial_rotary_factor"] = 0.75;
  config["original_max_position_embeddings"] = 32;
  config["rope_scaling"] = {{"type", "su"},
                            {"long_factor", {1.0, 2.0, 3.0, 4.0, 5.0, 6.5}},
                            {"short_factor", {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}}};
  const ConfigResult r = read(config);
  ASSERT_TRUE(r.good) << r.error.message;
  EXPECT_EQ(r.metadata.u32("phi3.rope.dimension_count"), 12u);
  EXPECT_EQ(r.metadata.u32("phi3.rope.scaling.original_context_length"), 32u);
  // sqrt(1 + ln(128 / 32) / ln(32)) = sqrt(1.4)
  EXPECT_NEAR(*r.metadata.f32("phi3.rope.scaling.attn_factor"), 1.1832160f, 1e-6f);
  ASSERT_EQ(r.shape.computed.size(), 2u);
  EXPECT_THAT(r.shape.computed[0].second, ElementsAre(1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.5f));
  config["rope_scaling"]["long_factor"] = {1.0};
  EXPECT_THAT(refusal(config), AllOf(HasSubstr("long_factor has 1"), HasSubstr("must have 6")));
}

TEST(ModelConfig, SlidingLayers) {
  Json gemma = with(llama_config(), "model_type", "gemma3_text");
  gemma["head_dim"] = 16;
  gemma["query_pre_attn_scalar"] = 16;
  gemma["sliding_window"] = 8;
  gemma["num_hidden_layers"] = 6;
  gemma["layer_types"] = {"sliding_attention", "sliding_attention", "sliding_attention",
                          "sliding_attention", "sliding_attention", "full_attention"};
  ConfigResult r = read(gemma);
  ASSERT_TRUE(r.good) << r.error.message;
  EXPECT_FALSE(r.metadata.contains("gemma3.attention.sliding_window_pattern"));
  gemma["layer_types"][0] = "full_attention";
  r = read(gemma);
  EXPECT_THAT(*r.metadata.booleans("gemma3.attention.sliding_window_pattern"),
              ElementsAre(false, true, true, true, true, false));
  gemma["layer_types"].erase(0);
  EXPECT_THAT(refusal(gemma), HasSubstr("5 entries for 6 layers"));
  gemma.erase("layer_types");
  gemma["sliding_window_pattern"] = 3;
  EXPECT_EQ(read(gemma).metadata.u32("gemma3.attention.sliding_window_pattern"), 3u);
  gemma["query_pre_attn_scalar"] = 20;
  EXPECT_THAT(refusal(gemma, ErrorCode::kUnsupported), HasSubstr("query_pre_attn_scalar is 20"));

  Json qwen = with(with(llama_config(), "model_type", "qwen2"), "sliding_window", 64);
  qwen["use_sliding_window"] = false;
  EXPECT_TRUE(read(qwen).good);
  qwen["use_sliding_window"] = true;
  EXPECT_THAT(refusal(qwen, ErrorCode::kUnsupported), HasSubstr("64 positions"));
  Json mistral = with(with(llama_config(), "model_type", "mistral"), "sliding_window", 64);
  EXPECT_EQ(read(mistral).warnings.size(), 1u);
}

TEST(ModelConfig, RefusesWhatOurArchitecturesWouldIgnore) {
  EXPECT_THAT(refusal(with(with(llama_config(), "model_type", "bitnet"), "hidden_act", "relu2"),
                      ErrorCode::kUnsupported),
              HasSubstr("relu2"));
  EXPECT_THAT(refusal(with(llama_config(), "quantization_config", {{"quant_method", "gptq"}}),
                      ErrorCode::kUnsupported),
              HasSubstr("gptq"));
  EXPECT_THAT(refusal(with(llama_config(), "partial_rotary_factor", 0.5), ErrorCode::kUnsupported),
              HasSubstr("partial_rotary_factor"));
  Json smollm = with(with(llama_config(), "model_type", "smollm3"), "no_rope_layers", {1, 0});
  EXPECT_THAT(refusal(smollm, ErrorCode::kUnsupported), HasSubstr("no_rope_layers"));
  smollm["no_rope_layers"] = {1, 1};
  EXPECT_TRUE(read(smollm).good);
}

TEST(ModelConfig, RefusesSizesOutOfRange) {
  EXPECT_THAT(refusal(with(llama_config(), "hidden_size", 0)), HasSubstr("between 1 and"));
  EXPECT_THAT(refusal(with(llama_config(), "hidden_size", -4)), HasSubstr("hidden_size is -4"));
  EXPECT_THAT(refusal(with(llama_config(), "hidden_size", "64")), HasSubstr("an integer"));
  EXPECT_THAT(refusal(with(llama_config(), "num_hidden_layers", 4000000000u)),
              HasSubstr("num_hidden_layers"));
  EXPECT_THAT(refusal(with(llama_config(), "num_attention_heads", 100)),
              HasSubstr("head_dim is 0"));
  EXPECT_THAT(refusal(with(llama_config(), "head_dim", 15)), HasSubstr("even"));
  EXPECT_THAT(refusal(with(llama_config(), "rms_norm_eps", 0)), HasSubstr("rms_norm_eps"));
  EXPECT_THAT(refusal(with(llama_config(), "rope_theta", 0)), HasSubstr("rope_theta"));
}

std::vector<std::string> names(const DecoderShape& shape, CheckpointNames style) {
  std::vector<std::string> out;
  for (const PlannedTensor& t : plan_tensors(shape, style)) {
    if (!t.optional) out.push_back(t.name + " " + t.stored);
  }
  return out;
}

DecoderShape one_layer(const char* type) {
  Json config = with(with(llama_config(), "model_type", type), "num_hidden_layers", 1);
  config["head_dim"] = 16;
  config["query_pre_attn_scalar"] = 16;
  config["tie_word_embeddings"] = true;
  return read(config).shape;
}

TEST(TensorPlan, NamesOfHuggingFace) {
  EXPECT_THAT(names(one_layer("gemma3_text"), CheckpointNames::kHuggingFace),
              ElementsAre("token_embd.weight model.embed_tokens.weight",
                          "blk.0.attn_norm.weight model.layers.0.input_layernorm.weight",
                          "blk.0.attn_q.weight model.layers.0.self_attn.q_proj.weight",
                          "blk.0.attn_k.weight model.layers.0.self_attn.k_proj.weight",
                          "blk.0.attn_v.weight model.layers.0.self_attn.v_proj.weight",
                          "blk.0.attn_q_norm.weight model.layers.0.self_attn.q_norm.weight",
                          "blk.0.attn_k_norm.weight model.layers.0.self_attn.k_norm.weight",
                          "blk.0.attn_output.weight model.layers.0.self_attn.o_proj.weight",
                          "blk.0.post_attention_norm.weight "
                          "model.layers.0.post_attention_layernorm.weight",
                          "blk.0.ffn_norm.weight model.layers.0.pre_feedforward_layernorm.weight",
                          "blk.0.ffn_gate.weight model.layers.0.mlp.gate_proj.weight",
                          "blk.0.ffn_up.weight model.layers.0.mlp.up_proj.weight",
                          "blk.0.ffn_down.weight model.layers.0.mlp.down_proj.weight",
                          "blk.0.post_ffw_norm.weight "
                          "model.layers.0.post_feedforward_layernorm.weight",
                          "output_norm.weight model.norm.weight"));
}

TEST(TensorPlan, NamesOfMlc) {
  EXPECT_THAT(names(one_layer("phi3"), CheckpointNames::kMlc),
              ElementsAre("token_embd.weight transformer.embd.weight",
                          "blk.0.attn_norm.weight transformer.h.0.ln.weight",
                          "blk.0.attn_qkv.weight transformer.h.0.mixer.qkv_proj.weight",
                          "blk.0.attn_output.weight transformer.h.0.mixer.out_proj.weight",
                          "blk.0.ffn_norm.weight transformer.h.0.post_attention_layernorm.weight",
                          "blk.0.ffn_up.weight transformer.h.0.mlp.gate_up_proj.weight",
                          "blk.0.ffn_down.weight transformer.h.0.mlp.down_proj.weight",
                          "output_norm.weight transformer.norm.weight"));
  EXPECT_THAT(names(one_layer("qwen2"), CheckpointNames::kMlc),
              ElementsAre("token_embd.weight model.embed_tokens.weight",
                          "blk.0.attn_norm.weight model.layers.0.input_layernorm.weight",
                          "blk.0.attn_q.weight model.layers.0.self_attn.c_attn.weight",
                          "blk.0.attn_k.weight model.layers.0.self_attn.c_attn.weight",
                          "blk.0.attn_v.weight model.layers.0.self_attn.c_attn.weight",
                          "blk.0.attn_output.weight model.layers.0.self_attn.o_proj.weight",
                          "blk.0.ffn_norm.weight model.layers.0.post_attention_layernorm.weight",
                          "blk.0.ffn_gate.weight model.layers.0.mlp.gate_up_proj.weight",
                          "blk.0.ffn_up.weight model.layers.0.mlp.gate_up_proj.weight",
                          "blk.0.ffn_down.weight model.layers.0.mlp.down_proj.weight",
                          "output_norm.weight model.norm.weight"));
}

TEST(TensorPlan, PlacesInFusedMatrices) {
  const auto plan = plan_tensors(one_layer("llama"), CheckpointNames::kMlc);
  const auto find = [&](const char* name) {
    for (const PlannedTensor& t : plan) {
      if (t.name == name) return t;
    }
    ADD_FAILURE() << name;
    return PlannedTensor();
  };
  EXPECT_EQ(find("blk.0.attn_q.weight").first, 0u);
  EXPECT_EQ(find("blk.0.attn_k.weight").first, 64u);
  EXPECT_EQ(find("blk.0.attn_v.weight").first, 96u);
  EXPECT_EQ(find("blk.0.attn_v.weight").stored_extent, 128u);
  EXPECT_EQ(find("blk.0.ffn_up.weight").first, 96u);
  EXPECT_EQ(find("blk.0.attn_k.weight").head_rows, 16u);
  EXPECT_EQ(find("blk.0.attn_v.weight").head_rows, 0u);
}

TEST(TensorPlan, PlainNames) {
  EXPECT_EQ(plain_stored_name("language_model.model.norm.weight"), "model.norm.weight");
  EXPECT_EQ(plain_stored_name("model.language_model.norm.weight"), "model.norm.weight");
  EXPECT_EQ(plain_stored_name("norm.weight"), "model.norm.weight");
  EXPECT_EQ(plain_stored_name("layers.3.mlp.up_proj.weight"), "model.layers.3.mlp.up_proj.weight");
  EXPECT_EQ(plain_stored_name("language_model.lm_head.weight"), "lm_head.weight");
  EXPECT_EQ(plain_stored_name("lm_head.weight"), "lm_head.weight");
  EXPECT_TRUE(is_beside_the_model("model.vision_tower.x"));
  EXPECT_TRUE(is_beside_the_model("model.layers.0.self_attn.rotary_emb.inv_freq"));
  EXPECT_FALSE(is_beside_the_model("model.layers.0.mlp.experts.0.w1.weight"));
}

}  // namespace
}  // namespace tandem
