// Sizes of the models that people publish NPU figures of, from their config.json files.

#include "published/model_sizes.h"

#include <algorithm>
#include <cctype>
#include <string>

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
    {"llama-1b", "Llama-3.2-1B"},
    {"llama-3b", "Llama-3.2-3B"},
    {"llama-8b", "Llama-3.1-8B"},
    {"llama-3-8b", "Llama-3.1-8B"},
    {"deepseek-r1-distill-llama-8b", "Llama-3.1-8B"},
    {"bitnet-b1.58-2b-4t", "BitNet-2B"},
};

struct Entry {
  const char* name;
  soc::ModelSizes sizes;
};
/// Layers, width, heads, key/value heads, head size, feed forward, vocabulary.
constexpr Entry kSizes[] = {
    {"qwen2.5-3b", {36, 2048, 16, 2, 128, 11008, 151936}},
    {"qwen2.5-7b", {28, 3584, 28, 4, 128, 18944, 152064}},
    {"qwen2-7b", {28, 3584, 28, 4, 128, 18944, 152064}},
    {"deepseek-r1-distill-qwen-7b", {28, 3584, 28, 4, 128, 18944, 152064}},
    {"qwen1.5-1.8b", {24, 2048, 16, 16, 128, 5504, 151936}},
    {"llama-2-7b", {32, 4096, 32, 32, 128, 11008, 32000}},
    {"tinyllama-1.1b", {22, 2048, 32, 4, 64, 5632, 32000}},
    {"mistral-7b", {32, 4096, 32, 8, 128, 14336, 32000}},
    {"smollm2-360m", {32, 960, 15, 5, 64, 2560, 49152}},
    {"gemma-2b", {18, 2048, 8, 1, 256, 16384, 256000}},
    {"gemma-3-4b", {34, 2560, 8, 4, 256, 10240, 262208, true}},
    {"phi-2", {32, 2560, 32, 32, 80, 10240, 51200}},
    {"phi-3-mini", {32, 3072, 32, 32, 96, 8192, 32064}},
    {"phi-3.5-mini", {32, 3072, 32, 32, 96, 8192, 32064}},
    {"internlm2-1.8b", {24, 2048, 16, 8, 128, 8192, 92544}},
    {"minicpm-2b", {40, 2304, 36, 36, 64, 5760, 122753}},
    {"chatglm3-6b", {28, 4096, 32, 2, 128, 13696, 65024}},
};

/// Lower case, without what follows the size: "-instruct", "-chat", "-it".
std::string plain(std::string_view name) {
  std::string out(name);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view ending : {"-instruct", "-chat", "-it"}) {
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
          .qk_norm = shape.architecture == "qwen3" || shape.architecture == "gemma3"};
}

}  // namespace

Result<soc::ModelSizes> find_sizes(std::string_view name) {
  std::string wanted = plain(name);
  for (const Alias& alias : kAliases) {
    if (wanted == alias.published) wanted = alias.shape;
  }
  for (const Entry& entry : kSizes) {
    if (wanted == entry.name) return entry.sizes;
  }
  if (const auto shape = find_shape(wanted)) return sizes_of(*shape);
  return failure(ErrorCode::kInvalidArgument, "the sizes of model \"{}\" are not known", name);
}

}  // namespace tandem::published
