// The table of model shapes. Sizes are those of the models' published config.json files.

#include "synth/shapes.h"

#include <algorithm>
#include <cctype>

namespace tandem {
namespace {

const ModelShape kShapes[] = {
    {.name = "SmolLM2-135M",
     .architecture = "llama",
     .n_layers = 30,
     .width = 576,
     .n_heads = 9,
     .n_kv_heads = 3,
     .key_size = 64,
     .value_size = 64,
     .ffn_width = 1536,
     .vocabulary = 49152,
     .context_length = 8192,
     .norm_epsilon = 1e-5f,
     .rope_base = 100000.0f},
    {.name = "SmolLM2-1.7B",
     .architecture = "llama",
     .n_layers = 24,
     .width = 2048,
     .n_heads = 32,
     .n_kv_heads = 32,
     .key_size = 64,
     .value_size = 64,
     .ffn_width = 8192,
     .vocabulary = 49152,
     .context_length = 8192,
     .norm_epsilon = 1e-5f,
     .rope_base = 130000.0f},
    {.name = "SmolLM3-3B",
     .architecture = "smollm3",
     .n_layers = 36,
     .width = 2048,
     .n_heads = 16,
     .n_kv_heads = 4,
     .key_size = 128,
     .value_size = 128,
     .ffn_width = 11008,
     .vocabulary = 128256,
     .context_length = 65536,
     .rope_base = 5000000.0f},
    {.name = "Qwen2.5-0.5B",
     .architecture = "qwen2",
     .n_layers = 24,
     .width = 896,
     .n_heads = 14,
     .n_kv_heads = 2,
     .key_size = 64,
     .value_size = 64,
     .ffn_width = 4864,
     .vocabulary = 151936,
     .context_length = 32768,
     .rope_base = 1000000.0f,
     .qkv_bias = true},
    {.name = "Qwen2.5-1.5B",
     .architecture = "qwen2",
     .n_layers = 28,
     .width = 1536,
     .n_heads = 12,
     .n_kv_heads = 2,
     .key_size = 128,
     .value_size = 128,
     .ffn_width = 8960,
     .vocabulary = 151936,
     .context_length = 32768,
     .rope_base = 1000000.0f,
     .qkv_bias = true},
    {.name = "Qwen3-0.6B",
     .architecture = "qwen3",
     .n_layers = 28,
     .width = 1024,
     .n_heads = 16,
     .n_kv_heads = 8,
     .key_size = 128,
     .value_size = 128,
     .ffn_width = 3072,
     .vocabulary = 151936,
     .context_length = 40960,
     .rope_base = 1000000.0f},
    {.name = "Qwen3-1.7B",
     .architecture = "qwen3",
     .n_layers = 28,
     .width = 2048,
     .n_heads = 16,
     .n_kv_heads = 8,
     .key_size = 128,
     .value_size = 128,
     .ffn_width = 6144,
     .vocabulary = 151936,
     .context_length = 40960,
     .rope_base = 1000000.0f},
    {.name = "Qwen3-4B",
     .architecture = "qwen3",
     .n_layers = 36,
     .width = 2560,
     .n_heads = 32,
     .n_kv_heads = 8,
     .key_size = 128,
     .value_size = 128,
     .ffn_width = 9728,
     .vocabulary = 151936,
     .context_length = 40960,
     .rope_base = 1000000.0f},
    {.name = "Qwen3-8B",
     .architecture = "qwen3",
     .n_layers = 36,
     .width = 4096,
     .n_heads = 32,
     .n_kv_heads = 8,
     .key_size = 128,
     .value_size = 128,
     .ffn_width = 12288,
     .vocabulary = 151936,
     .context_length = 40960,
     .rope_base = 1000000.0f,
     .tied = false},
    {.name = "Llama-3.2-1B",
     .architecture = "llama",
     .n_layers = 16,
     .width = 2048,
     .n_heads = 32,
     .n_kv_heads = 8,
     .key_size = 64,
     .value_size = 64,
     .ffn_width = 8192,
     .vocabulary = 128256,
     .context_length = 131072,
     .norm_epsilon = 1e-5f,
     .rope_base = 500000.0f,
     .llama3_factor = 32.0f,
     .original_context = 8192},
    {.name = "Llama-3.2-3B",
     .architecture = "llama",
     .n_layers = 28,
     .width = 3072,
     .n_heads = 24,
     .n_kv_heads = 8,
     .key_size = 128,
     .value_size = 128,
     .ffn_width = 8192,
     .vocabulary = 128256,
     .context_length = 131072,
     .norm_epsilon = 1e-5f,
     .rope_base = 500000.0f,
     .llama3_factor = 32.0f,
     .original_context = 8192},
    {.name = "Llama-3.1-8B",
     .architecture = "llama",
     .n_layers = 32,
     .width = 4096,
     .n_heads = 32,
     .n_kv_heads = 8,
     .key_size = 128,
     .value_size = 128,
     .ffn_width = 14336,
     .vocabulary = 128256,
     .context_length = 131072,
     .norm_epsilon = 1e-5f,
     .rope_base = 500000.0f,
     .tied = false,
     .llama3_factor = 8.0f,
     .original_context = 8192},
    {.name = "Ministral-3-3B",
     .architecture = "mistral3",
     .n_layers = 26,
     .width = 3072,
     .n_heads = 32,
     .n_kv_heads = 8,
     .key_size = 128,
     .value_size = 128,
     .ffn_width = 9216,
     .vocabulary = 131072,
     .context_length = 262144,
     .norm_epsilon = 1e-5f,
     .rope_base = 1000000.0f,
     .original_context = 16384,
     .extra = {{"rope.scaling.type", std::string("yarn")},
               {"rope.scaling.factor", 16.0f},
               {"rope.scaling.yarn_log_multiplier", 1.0f},
               {"attention.temperature_scale", 0.1f}}},
    {.name = "Gemma-2-2B",
     .architecture = "gemma2",
     .n_layers = 26,
     .width = 2304,
     .n_heads = 8,
     .n_kv_heads = 4,
     .key_size = 256,
     .value_size = 256,
     .ffn_width = 9216,
     .vocabulary = 256000,
     .context_length = 8192,
     .window = 4096,
     .extra = {{"attn_logit_softcapping", 50.0f}, {"final_logit_softcapping", 30.0f}}},
    {.name = "Gemma-3-1B",
     .architecture = "gemma3",
     .n_layers = 26,
     .width = 1152,
     .n_heads = 4,
     .n_kv_heads = 1,
     .key_size = 256,
     .value_size = 256,
     .ffn_width = 6912,
     .vocabulary = 262144,
     .context_length = 32768,
     .rope_base = 1000000.0f,
     .window = 512},
    {.name = "Phi-4-mini",
     .architecture = "phi3",
     .n_layers = 32,
     .width = 3072,
     .n_heads = 24,
     .n_kv_heads = 8,
     .key_size = 128,
     .value_size = 128,
     .ffn_width = 8192,
     .vocabulary = 200064,
     .context_length = 131072,
     .norm_epsilon = 1e-5f,
     .n_rotated = 96,
     .longrope = true,
     .original_context = 4096,
     .extra = {{"rope.scaling.attn_factor", 1.190238f}}},
    {.name = "BitNet-2B",
     .architecture = "bitnet",
     .n_layers = 30,
     .width = 2560,
     .n_heads = 20,
     .n_kv_heads = 5,
     .key_size = 128,
     .value_size = 128,
     .ffn_width = 6912,
     .vocabulary = 128256,
     .context_length = 4096,
     .norm_epsilon = 1e-5f,
     .rope_base = 500000.0f},
};

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

}  // namespace

std::span<const ModelShape> known_shapes() { return kShapes; }

Result<ModelShape> find_shape(std::string_view name) {
  std::string known;
  for (const ModelShape& shape : kShapes) {
    if (same_name(shape.name, name)) return shape;
    known += (known.empty() ? "" : ", ") + shape.name;
  }
  return failure(ErrorCode::kInvalidArgument, "shape \"{}\" is not known; known are {}", name,
                 known);
}

Metadata shape_metadata(const ModelShape& s) {
  Metadata out;
  const auto set = [&](const char* key, MetadataValue value) {
    out.set(s.architecture + "." + key, std::move(value));
  };
  out.set("general.architecture", s.architecture);
  out.set("general.name", s.name);
  set("block_count", s.n_layers);
  set("embedding_length", s.width);
  set("feed_forward_length", s.ffn_width);
  set("context_length", s.context_length);
  set("attention.head_count", s.n_heads);
  set("attention.head_count_kv", s.n_kv_heads);
  set("attention.key_length", s.key_size);
  set("attention.value_length", s.value_size);
  set("attention.layer_norm_rms_epsilon", s.norm_epsilon);
  set("rope.freq_base", s.rope_base);
  set("rope.dimension_count", s.n_rotated == 0 ? s.key_size : s.n_rotated);
  if (s.window != 0) set("attention.sliding_window", s.window);
  if (s.original_context != 0) {
    set("rope.scaling.original_context_length", s.original_context);
  }
  for (const auto& [key, value] : s.extra) set(key.c_str(), value);
  return out;
}

}  // namespace tandem
