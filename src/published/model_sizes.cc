// Sizes of the models that people publish NPU figures of, from their config.json files.

#include "published/model_sizes.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "synth/shapes.h"

namespace tandem::published {
namespace {

struct Alias {
  const char* published;
  const char* shape;
};
/// Other names of shapes that `tandem synth` knows.
constexpr Alias kAliases[] = {
    {"qwen2-0.5b", "Qwen2.5-0.5B"},
    {"qwen2-1.5b", "Qwen2.5-1.5B"},
    {"deepseek-r1-distill-qwen-1.5b", "Qwen2.5-1.5B"},
    {"deepseek-r1-0528-qwen3-8b", "Qwen3-8B"},
    {"llama-1b", "Llama-3.2-1B"},
    {"llama-3b", "Llama-3.2-3B"},
    {"llama-8b", "Llama-3.1-8B"},
    {"llama-3-8b", "Llama-3.1-8B"},
    {"deepseek-r1-distill-llama-8b", "Llama-3.1-8B"},
    {"bitnet-b1.58-2b-4t", "BitNet-2B"},
    {"phi-4-mini-3.8b", "Phi-4-mini"},
};

struct Entry {
  const char* name;
  soc::ModelSizes sizes;
};
/// Layers, width, heads, key/value heads, head size, feed forward, vocabulary; a norm of queries
/// and keys, window, each so manyth layer without it.
constexpr Entry kSizes[] = {
    {"qwen2.5-3b", {36, 2048, 16, 2, 128, 11008, 151936}},
    {"qwen2.5-7b", {28, 3584, 28, 4, 128, 18944, 152064}},
    {"qwen2-7b", {28, 3584, 28, 4, 128, 18944, 152064}},
    {"deepseek-r1-distill-qwen-7b", {28, 3584, 28, 4, 128, 18944, 152064}},
    {"qwen2.5-14b", {48, 5120, 40, 8, 128, 13824, 152064}},
    {"qwen3-14b", {40, 5120, 40, 8, 128, 17408, 151936, true}},
    {"qwen1.5-0.5b", {24, 1024, 16, 16, 64, 2816, 151936}},
    {"qwen1.5-1.8b", {24, 2048, 16, 16, 128, 5504, 151936}},
    {"qwen1.5-4b", {40, 2560, 20, 20, 128, 6912, 151936}},
    {"qwen1.5-7b", {32, 4096, 32, 32, 128, 11008, 151936}},
    {"llama-2-7b", {32, 4096, 32, 32, 128, 11008, 32000}},
    {"llama-7b", {32, 4096, 32, 32, 128, 11008, 32000}},
    {"llama-2-13b", {40, 5120, 40, 40, 128, 13824, 32000}},
    {"tinyllama-1.1b", {22, 2048, 32, 4, 64, 5632, 32000}},
    {"mistral-7b", {32, 4096, 32, 8, 128, 14336, 32000}},
    {"smollm2-360m", {32, 960, 15, 5, 64, 2560, 49152}},
    {"gemma-2b", {18, 2048, 8, 1, 256, 16384, 256000}},
    {"gemma-7b", {28, 3072, 16, 16, 256, 24576, 256000}},
    {"gemma-2-9b", {42, 3584, 16, 8, 256, 14336, 256000, false, 4096, 2}},
    {"gemma-3-270m", {18, 640, 4, 1, 256, 2048, 262144, true, 512, 6}},
    {"gemma-3-4b", {34, 2560, 8, 4, 256, 10240, 262208, true, 1024, 6}},
    {"gemma-3-12b", {48, 3840, 16, 8, 256, 15360, 262208, true, 1024, 6}},
    {"phi-1.5", {24, 2048, 32, 32, 64, 8192, 51200}},
    {"phi-2", {32, 2560, 32, 32, 80, 10240, 51200}},
    {"phi-3-mini", {32, 3072, 32, 32, 96, 8192, 32064}},
    {"phi-3-3.8b", {32, 3072, 32, 32, 96, 8192, 32064}},
    {"phi-3.5-mini", {32, 3072, 32, 32, 96, 8192, 32064}},
    {"internlm2-1.8b", {24, 2048, 16, 8, 128, 8192, 92544}},
    {"internlm2.5-1.8b", {24, 2048, 16, 8, 128, 8192, 92544}},
    {"internlm2-7b", {32, 4096, 32, 8, 128, 14336, 92544}},
    {"minicpm-2b", {40, 2304, 36, 36, 64, 5760, 122753}},
    {"minicpm4-0.5b", {24, 1024, 16, 2, 64, 4096, 73448}},
    {"minicpm4-8b", {32, 4096, 32, 2, 128, 16384, 73448}},
    {"chatglm3-6b", {28, 4096, 32, 2, 128, 13696, 65024}},
    {"exaone-3.5-2.4b", {30, 2560, 32, 8, 80, 7168, 102400}},
    {"exaone-3.5-7.8b", {32, 4096, 32, 8, 128, 14336, 102400}},
};

/// What tells models apart in their names: "Llama-3.2-1B-Instruct", "llama3.2:1b" and "LLaMA 3.2
/// 1B" are one.
std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool is_separator = std::string_view("-_: ").find(c) != std::string_view::npos;
    if (!is_separator) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const std::string_view ending : {"2507", "instruct", "chat", "it", "base", "preview"}) {
    if (out.ends_with(ending)) out.resize(out.size() - ending.size());
  }
  return out;
}

soc::ModelSizes sizes_of(const ModelShape& shape) {
  return {.n_layers = shape.n_layers,
          .width = shape.width,
          .n_heads = shape.n_heads,
          .n_kv_heads = shape.n_kv_heads,
          .head_size = shape.key_size,
          .ffn_width = shape.ffn_width,
          .vocabulary = shape.vocabulary,
          .qk_norm = shape.architecture == "qwen3" || shape.architecture == "gemma3",
          .window = shape.window,
          .global_every = shape.architecture == "gemma3" ? 6u : 2u};
}

/// Weights of the layers, and of an output head.
double layer_weights(const soc::ModelSizes& m) {
  const double attention = 2.0 * (m.n_heads + m.n_kv_heads) * m.head_size;
  return m.n_layers * (attention + 3.0 * m.ffn_width) * m.width;
}
double head_weights(const soc::ModelSizes& m) { return double(m.vocabulary) * m.width; }

std::vector<soc::ModelSizes> all_sizes() {
  std::vector<soc::ModelSizes> out;
  for (const Entry& entry : kSizes) out.push_back(entry.sizes);
  for (const ModelShape& shape : known_shapes()) out.push_back(sizes_of(shape));
  return out;
}

}  // namespace

Result<soc::ModelSizes> find_sizes(std::string_view name) {
  std::string wanted = plain(name);
  for (const Alias& alias : kAliases) {
    if (wanted == plain(alias.published)) wanted = plain(alias.shape);
  }
  for (const Entry& entry : kSizes) {
    if (wanted == plain(entry.name)) return entry.sizes;
  }
  for (const ModelShape& shape : known_shapes()) {
    if (wanted == plain(shape.name)) return sizes_of(shape);
  }
  return failure(ErrorCode::kInvalidArgument, "the sizes of model \"{}\" are not known", name);
}

soc::ModelSizes guess_sizes(double n_weights) {
  soc::ModelSizes best;
  double least = std::numeric_limits<double>::infinity();
  for (const soc::ModelSizes& m : all_sizes()) {
    const double distance = std::abs(std::log((layer_weights(m) + head_weights(m)) / n_weights));
    if (distance >= least) continue;
    least = distance;
    best = m;
  }
  const double a_layer = layer_weights(best) / best.n_layers;
  const double n_layers = std::round((n_weights - head_weights(best)) / a_layer);
  best.n_layers = static_cast<uint32_t>(std::clamp(n_layers, 1.0, 1000.0));
  return best;
}

}  // namespace tandem::published
