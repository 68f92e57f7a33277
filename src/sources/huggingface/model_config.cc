// Hyperparameters of a config.json under GGUF's keys.

#include "sources/huggingface/model_config.h"

#include <array>
#include <cmath>
#include <string_view>

#include "sources/huggingface/rope_config.h"

namespace tandem {
namespace {

constexpr uint32_t kMaxLayers = 1024;
constexpr uint32_t kMaxHeads = 4096;
constexpr uint32_t kMaxWidth = 1u << 20;
constexpr uint32_t kMaxVocabulary = 1u << 24;
constexpr uint32_t kMaxContext = 1u << 28;

struct ModelType {
  std::string_view name;  ///< model_type
  std::string_view architecture;
  std::string_view activation;  ///< the only one our architecture has
  bool ties_by_default;
  uint32_t sliding_interval;  ///< every so-manieth layer sees everything; 0: all do
};

constexpr std::string_view kSilu = "silu";
constexpr std::string_view kGelu = "gelu_pytorch_tanh";

constexpr std::array<ModelType, 11> kModelTypes{{
    {"llama", "llama", kSilu, false, 0},
    {"mistral", "llama", kSilu, false, 0},
    {"ministral3", "mistral3", kSilu, false, 0},
    {"smollm3", "smollm3", kSilu, true, 0},
    {"qwen2", "qwen2", kSilu, false, 0},
    {"qwen3", "qwen3", kSilu, false, 0},
    {"gemma2", "gemma2", kGelu, true, 2},
    {"gemma3", "gemma3", kGelu, true, 6},
    {"gemma3_text", "gemma3", kGelu, true, 6},
    {"phi3", "phi3", kSilu, false, 0},
    {"bitnet", "bitnet", kSilu, false, 0},
}};

Result<const ModelType*> find_model_type(const JsonConfig& config) {
  TANDEM_TRY(const std::string name, config.required_string("model_type"));
  std::string known;
  for (const ModelType& type : kModelTypes) {
    if (type.name == name) return &type;
    known += (known.empty() ? "" : ", ") + std::string(type.name);
  }
  return failure(ErrorCode::kUnsupported, "{}: model_type \"{}\" is not known; known are {}",
                 config.source(), name, known);
}

/// The language model of a file that describes an image model too: its members, and those of the
/// outer object that it leaves out.
Result<JsonConfig> language_part(const JsonConfig& config) {
  TANDEM_TRY(const auto text, config.object("text_config"));
  if (!text) return config;
  JsonConfig out = config;
  out.erase("text_config");
  for (const auto& [key, value] : text->value().items()) {
    if (!value.is_null()) out.set(key, value);
  }
  return out;
}

class ConfigReader {
 public:
  ConfigReader(const JsonConfig& config, const ModelType& type, Metadata& metadata,
               const LogSink& log)
      : config_(config), type_(type), metadata_(metadata), log_(log) {}

  Result<DecoderShape> read() {
    shape_.architecture = type_.architecture;
    metadata_.set("general.architecture", shape_.architecture);
    TANDEM_TRY(read_sizes());
    TANDEM_TRY(read_heads());
    TANDEM_TRY(check_activation());
    TANDEM_TRY(check_quantization());
    TANDEM_TRY(read_rope_config(config_, context_length_, shape_, metadata_, log_));
    TANDEM_TRY(read_layers());
    if (shape_.architecture.starts_with("gemma")) TANDEM_TRY(read_gemma());
    if (shape_.architecture == "smollm3") TANDEM_TRY(check_rope_layers());
    TANDEM_TRY(const auto tied, config_.boolean("tie_word_embeddings"));
    shape_.states_tied = tied.has_value();
    shape_.tied_embeddings = tied.value_or(type_.ties_by_default);
    return std::move(shape_);
  }

 private:
  template <class T>
  void set(const char* name, T value) {
    metadata_.set(shape_.architecture + "." + name, std::move(value));
  }
  void warn(const std::string& text) const {
    if (log_) log_(LogLevel::kWarning, config_.source() + ": " + text);
  }

  Result<uint32_t> in_range(const char* name, uint32_t value, uint32_t limit) const {
    if (value >= 1 && value <= limit) return value;
    return failure(ErrorCode::kCorruptFile, "{}: {} is {}, must be between 1 and {}",
                   config_.source(), name, value, limit);
  }
  Result<uint32_t> size(const char* name, uint32_t limit) const {
    TANDEM_TRY(const uint32_t value, config_.required_u32(name));
    return in_range(name, value, limit);
  }
  Result<uint32_t> size_or(const char* name, uint32_t otherwise, uint32_t limit) const {
    TANDEM_TRY(const uint32_t value, config_.u32_or(name, otherwise));
    return in_range(name, value, limit);
  }

  Result<void> read_sizes() {
    const bool is_gemma3 = shape_.architecture == "gemma3";
    TANDEM_TRY(shape_.n_layers, size("num_hidden_layers", kMaxLayers));
    TANDEM_TRY(shape_.width, size("hidden_size", kMaxWidth));
    TANDEM_TRY(shape_.ffn_width, size("intermediate_size", kMaxWidth));
    // Gemma 3's files leave out what is the default of its code.
    TANDEM_TRY(shape_.vocabulary, is_gemma3 ? size_or("vocab_size", 262208, kMaxVocabulary)
                                            : size("vocab_size", kMaxVocabulary));
    TANDEM_TRY(context_length_, is_gemma3 ? size_or("max_position_embeddings", 131072, kMaxContext)
                                          : size("max_position_embeddings", kMaxContext));
    TANDEM_TRY(const float epsilon, config_.f32_or("rms_norm_eps", 1e-6f));
    if (!(epsilon > 0)) {
      return failure(ErrorCode::kCorruptFile, "{}: rms_norm_eps is {}, must be positive",
                     config_.source(), epsilon);
    }
    set("block_count", shape_.n_layers);
    set("embedding_length", shape_.width);
    set("feed_forward_length", shape_.ffn_width);
    set("context_length", context_length_);
    set("vocab_size", shape_.vocabulary);
    set("attention.layer_norm_rms_epsilon", epsilon);
    return {};
  }

  Result<void> read_heads() {
    const bool is_gemma3 = shape_.architecture == "gemma3";
    TANDEM_TRY(shape_.n_heads, is_gemma3 ? size_or("num_attention_heads", 8, kMaxHeads)
                                         : size("num_attention_heads", kMaxHeads));
    TANDEM_TRY(shape_.n_kv_heads,
               size_or("num_key_value_heads", is_gemma3 ? 4 : shape_.n_heads, kMaxHeads));
    if (shape_.n_heads % shape_.n_kv_heads != 0) {
      return failure(ErrorCode::kCorruptFile,
                     "{}: num_key_value_heads is {}, must divide num_attention_heads = {}",
                     config_.source(), shape_.n_kv_heads, shape_.n_heads);
    }
    const bool is_gemma = shape_.architecture.starts_with("gemma");
    const uint32_t even_share = is_gemma ? 256 : shape_.width / shape_.n_heads;
    TANDEM_TRY(shape_.head_size, size_or("head_dim", even_share, kMaxWidth));
    if (uint64_t{shape_.n_heads} * shape_.head_size > kMaxWidth || shape_.head_size % 2 != 0) {
      return failure(ErrorCode::kCorruptFile,
                     "{}: {} heads of {} channels; must be an even number, at most {} in all",
                     config_.source(), shape_.n_heads, shape_.head_size, kMaxWidth);
    }
    set("attention.head_count", shape_.n_heads);
    set("attention.head_count_kv", shape_.n_kv_heads);
    set("attention.key_length", shape_.head_size);
    set("attention.value_length", shape_.head_size);
    return {};
  }

  Result<void> check_activation() {
    TANDEM_TRY(const std::string usual,
               config_.string_or("hidden_act", std::string(type_.activation)));
    TANDEM_TRY(const std::string used, config_.string_or("hidden_activation", usual));
    const bool same = used == type_.activation || (type_.activation == kSilu && used == "swish");
    // Gemma's first files say "gelu" and its code uses the tanh form all the same.
    if (same || (type_.activation == kGelu && used == "gelu")) return {};
    return failure(ErrorCode::kUnsupported, "{}: hidden_act is \"{}\"; architecture {} has {} only",
                   config_.source(), used, shape_.architecture, type_.activation);
  }

  /// Checkpoints that are quantized already: only BitNet's packed weights are read.
  Result<void> check_quantization() {
    TANDEM_TRY(const auto quantization, config_.object("quantization_config"));
    if (!quantization) {
      if (shape_.architecture == "bitnet") shape_.ternary = TernaryWeights::kRounded;
      return {};
    }
    TANDEM_TRY(const std::string method, quantization->string_or("quant_method", "(not named)"));
    if (method == "bitnet") {
      TANDEM_TRY(const std::string kind, quantization->string_or("linear_class", "bitlinear"));
      TANDEM_TRY(const std::string mode, quantization->string_or("quantization_mode", "offline"));
      shape_.ternary = kind != "autobitlinear" ? TernaryWeights::kDivide
                       : mode == "online"      ? TernaryWeights::kRounded
                                               : TernaryWeights::kMultiply;
      return {};
    }
    return failure(ErrorCode::kUnsupported,
                   "{}: the checkpoint is quantized with \"{}\", which we do not read; convert the "
                   "original weights",
                   config_.source(), method);
  }

  /// Which layers slide, as GGUF says it; what our architectures assume needs no key.
  Result<void> read_layers() {
    TANDEM_TRY(const auto stated_window, config_.u32("sliding_window"));
    const uint32_t window = stated_window.value_or(0);
    if (type_.sliding_interval == 0) return check_unused_window(window);
    if (window > 0) set("attention.sliding_window", window);
    TANDEM_TRY(const uint32_t interval,
               config_.u32_or("sliding_window_pattern", type_.sliding_interval));
    TANDEM_TRY(const auto kinds, config_.strings("layer_types"));
    if (!kinds) {
      if (interval != type_.sliding_interval) set("attention.sliding_window_pattern", interval);
      return {};
    }
    return read_layer_kinds(*kinds);
  }

  Result<void> read_layer_kinds(const std::vector<std::string>& kinds) {
    if (kinds.size() != shape_.n_layers) {
      return failure(ErrorCode::kCorruptFile, "{}: layer_types has {} entries for {} layers",
                     config_.source(), kinds.size(), shape_.n_layers);
    }
    std::vector<bool> slides;
    bool as_assumed = true;
    for (const std::string& kind : kinds) {
      if (kind != "sliding_attention" && kind != "full_attention") {
        return failure(ErrorCode::kUnsupported, "{}: layer_types has \"{}\"", config_.source(),
                       kind);
      }
      const size_t layer = slides.size();
      slides.push_back(kind == "sliding_attention");
      const bool assumed = layer % type_.sliding_interval != type_.sliding_interval - 1;
      as_assumed &= slides.back() == assumed;
    }
    if (!as_assumed) set("attention.sliding_window_pattern", std::move(slides));
    return {};
  }

  /// Models that name a window which their architecture does not apply.
  Result<void> check_unused_window(uint32_t window) {
    if (shape_.architecture == "phi3") {
      // A key in its files, zero for Phi-4.
      set("attention.sliding_window", window);
      return {};
    }
    TANDEM_TRY(const bool used, config_.boolean_or("use_sliding_window", type_.name == "mistral"));
    if (window == 0 || !used || window >= context_length_) return {};
    if (type_.name == "mistral") {
      warn(
          fmt::format("its sliding window of {} positions is not applied; answers may differ "
                      "beyond that",
                      window));
      return {};
    }
    return failure(
        ErrorCode::kUnsupported,
        "{}: layers with a sliding window of {} positions are not run by architecture {}",
        config_.source(), window, shape_.architecture);
  }

  Result<void> read_gemma() {
    const bool is_2 = shape_.architecture == "gemma2";
    TANDEM_TRY(const float attention_cap,
               config_.f32_or("attn_logit_softcapping", is_2 ? 50.0f : 0.0f));
    TANDEM_TRY(const float final_cap,
               config_.f32_or("final_logit_softcapping", is_2 ? 30.0f : 0.0f));
    if (!is_2 && attention_cap != 0) {
      return failure(ErrorCode::kUnsupported, "{}: attn_logit_softcapping is not run by gemma3",
                     config_.source());
    }
    if (is_2) set("attn_logit_softcapping", attention_cap);
    if (is_2 || final_cap != 0) set("final_logit_softcapping", final_cap);
    TANDEM_TRY(const float scalar, config_.f32_or("query_pre_attn_scalar", 256.0f));
    const bool is_27b = shape_.n_layers == (is_2 ? 46u : 62u);
    const float run = is_27b ? static_cast<float>(shape_.width) / static_cast<float>(shape_.n_heads)
                             : static_cast<float>(shape_.head_size);
    if (std::abs(scalar - run) < 1e-3f) return {};
    return failure(ErrorCode::kUnsupported,
                   "{}: query_pre_attn_scalar is {}; architecture {} runs {} at {} layers",
                   config_.source(), scalar, shape_.architecture, run, shape_.n_layers);
  }

  /// Every fourth layer goes without rope; GGUF has no key for another pattern.
  Result<void> check_rope_layers() {
    constexpr uint32_t kInterval = 4;
    TANDEM_TRY(const std::vector<uint32_t> uses_rope, config_.u32_list("no_rope_layers"));
    TANDEM_TRY(const uint32_t interval, config_.u32_or("no_rope_layer_interval", kInterval));
    bool same = uses_rope.empty() ? interval == kInterval : uses_rope.size() == shape_.n_layers;
    for (size_t layer = 0; same && layer < uses_rope.size(); ++layer) {
      same = uses_rope[layer] == ((layer + 1) % kInterval != 0 ? 1u : 0u);
    }
    if (same) return {};
    return failure(ErrorCode::kUnsupported,
                   "{}: no_rope_layers must leave rope out of every fourth layer, architecture "
                   "smollm3 runs no other",
                   config_.source());
  }

  const JsonConfig& config_;
  const ModelType& type_;
  Metadata& metadata_;
  const LogSink& log_;
  DecoderShape shape_;
  uint32_t context_length_ = 0;
};

}  // namespace

Result<DecoderShape> read_model_config(const JsonConfig& config, Metadata& metadata,
                                       const LogSink& log) {
  TANDEM_TRY(const JsonConfig language, language_part(config));
  TANDEM_TRY(const ModelType* type, find_model_type(language));
  return ConfigReader(language, *type, metadata, log).read();
}

}  // namespace tandem
