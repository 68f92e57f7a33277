// Rotary settings of a config.json.

#include "sources/huggingface/rope_config.h"

#include <cmath>

namespace tandem {
namespace {

constexpr double kTwoPi = 6.283185307179586476925286766559;

class RopeReader {
 public:
  RopeReader(const JsonConfig& config, uint32_t context_length, DecoderShape& shape,
             Metadata& metadata, const LogSink& log)
      : config_(config),
        context_length_(context_length),
        shape_(shape),
        metadata_(metadata),
        log_(log) {}

  Result<void> read() {
    TANDEM_TRY(choose_parameters());
    TANDEM_TRY(const float top_theta, config_.f32_or("rope_theta", default_theta()));
    TANDEM_TRY(base_, parameters_.f32_or("rope_theta", top_theta));
    if (!(base_ > 1)) {
      return failure(ErrorCode::kCorruptFile, "{}: rope_theta is {}, must be over 1",
                     config_.source(), base_);
    }
    set("rope.freq_base", base_);
    TANDEM_TRY(read_rotated_part());
    TANDEM_TRY(std::string kind, kind_of(parameters_));
    if (kind == "default" || kind.empty()) return {};
    if (kind == "linear") return read_linear();
    if (kind == "llama3") return read_llama3();
    if (kind == "yarn") return read_yarn();
    if (kind == "longrope" || kind == "su") return read_longrope();
    if (kind == "dynamic") {
      warn("rope scaling \"dynamic\" acts only beyond max_position_embeddings and is left out");
      return {};
    }
    return failure(ErrorCode::kUnsupported,
                   "{}: rope scaling \"{}\" is not known; known are default, linear, dynamic, "
                   "llama3, yarn, longrope",
                   config_.source(), kind);
  }

 private:
  template <class T>
  void set(const char* name, T value) {
    metadata_.set(shape_.architecture + "." + name, std::move(value));
  }
  void warn(const std::string& text) const {
    if (log_) log_(LogLevel::kWarning, config_.source() + ": " + text);
  }
  float default_theta() const { return shape_.architecture == "gemma3" ? 1000000.0f : 10000.0f; }

  /// Old files say "type", new ones "rope_type".
  static Result<std::string> kind_of(const JsonConfig& parameters) {
    TANDEM_TRY(const std::string old_name, parameters.string_or("type", ""));
    return parameters.string_or("rope_type", old_name);
  }

  /// rope_scaling of old files, rope_parameters of new ones, which may hold one object for each
  /// kind of layer.
  Result<void> choose_parameters() {
    TANDEM_TRY(auto old_form, config_.object("rope_scaling"));
    TANDEM_TRY(auto new_form, config_.object("rope_parameters"));
    if (new_form) {
      TANDEM_TRY(auto full, new_form->object("full_attention"));
      TANDEM_TRY(const auto sliding, new_form->object("sliding_attention"));
      if (sliding) TANDEM_TRY(read_sliding(*sliding));
      parameters_ = full ? *std::move(full) : *std::move(new_form);
    } else if (old_form) {
      parameters_ = *std::move(old_form);
    }
    TANDEM_TRY(const auto local, config_.f32("rope_local_base_freq"));
    if (local) set("rope.freq_base_swa", *local);
    return {};
  }

  /// Sliding layers run unscaled at a base of their own.
  Result<void> read_sliding(const JsonConfig& sliding) {
    TANDEM_TRY(const std::string kind, kind_of(sliding));
    if (!kind.empty() && kind != "default") {
      return failure(ErrorCode::kUnsupported,
                     "{}: rope scaling \"{}\" is not run in sliding layers", sliding.source(),
                     kind);
    }
    TANDEM_TRY(const auto theta, sliding.f32("rope_theta"));
    if (theta) set("rope.freq_base_swa", *theta);
    return {};
  }

  Result<void> read_rotated_part() {
    TANDEM_TRY(const float top, config_.f32_or("partial_rotary_factor", 1.0f));
    TANDEM_TRY(const float part, parameters_.f32_or("partial_rotary_factor", top));
    n_rotated_ = shape_.head_size;
    if (part != 1.0f) {
      if (shape_.architecture != "phi3") {
        return failure(ErrorCode::kUnsupported,
                       "{}: partial_rotary_factor is {}; architecture {} turns whole heads",
                       config_.source(), part, shape_.architecture);
      }
      n_rotated_ = static_cast<uint32_t>(part * static_cast<float>(shape_.head_size));
    }
    if (n_rotated_ < 2 || n_rotated_ % 2 != 0 || n_rotated_ > shape_.head_size) {
      return failure(ErrorCode::kCorruptFile,
                     "{}: rope would turn {} of {} channels of a head; must be even",
                     config_.source(), n_rotated_, shape_.head_size);
    }
    set("rope.dimension_count", n_rotated_);
    return {};
  }

  Result<float> required(const char* name) const {
    TANDEM_TRY(const auto value, parameters_.f32(name));
    if (value && *value > 0) return *value;
    return failure(ErrorCode::kCorruptFile, "{}: {} must be a positive number",
                   parameters_.source(), name);
  }

  /// Stated beside the scaling's own parameters or at the top level.
  Result<uint32_t> original_context(uint32_t otherwise) const {
    constexpr const char* kName = "original_max_position_embeddings";
    TANDEM_TRY(const uint32_t top, config_.u32_or(kName, otherwise));
    TANDEM_TRY(const uint32_t value, parameters_.u32_or(kName, top));
    if (value > 1) return value;
    return failure(ErrorCode::kCorruptFile, "{}: {} is {}, must be over 1", parameters_.source(),
                   kName, value);
  }

  Result<void> read_linear() {
    TANDEM_TRY(const float factor, required("factor"));
    set("rope.scaling.type", std::string("linear"));
    set("rope.scaling.factor", factor);
    return {};
  }

  Result<void> read_llama3() {
    if (shape_.architecture != "llama") {
      return failure(ErrorCode::kUnsupported,
                     "{}: rope scaling \"llama3\" is run by architecture llama only",
                     parameters_.source());
    }
    Llama3Scaling scaling{.head_size = shape_.head_size,
                          .base = base_,
                          .factor = 0,
                          .low_freq_factor = 0,
                          .high_freq_factor = 0,
                          .original_context = 0};
    TANDEM_TRY(scaling.factor, required("factor"));
    TANDEM_TRY(scaling.low_freq_factor, required("low_freq_factor"));
    TANDEM_TRY(scaling.high_freq_factor, required("high_freq_factor"));
    TANDEM_TRY(scaling.original_context, original_context(8192));
    if (scaling.high_freq_factor <= scaling.low_freq_factor) {
      return failure(ErrorCode::kCorruptFile,
                     "{}: high_freq_factor is {}, must be over low_freq_factor {}",
                     parameters_.source(), scaling.high_freq_factor, scaling.low_freq_factor);
    }
    shape_.computed.emplace_back("rope_freqs.weight", llama3_divisors(scaling));
    return {};
  }

  /// YaRN's magnitude by the model's own rule over the one our key's users apply (arXiv 2309.00071,
  /// equation 22): what rope.scaling.attn_factor has to make up for.
  Result<float> yarn_attention_factor(float factor, float log_multiplier) const {
    const float growth = factor > 1 ? 0.1f * std::log(factor) : 0.0f;
    TANDEM_TRY(const float mscale, parameters_.f32_or("mscale", 0.0f));
    TANDEM_TRY(const float all, parameters_.f32_or("mscale_all_dim", 0.0f));
    const bool has_both = mscale != 0 && all != 0;
    const float by_rule = has_both ? (1 + mscale * growth) / (1 + all * growth) : 1 + growth;
    TANDEM_TRY(const float wanted, parameters_.f32_or("attention_factor", by_rule));
    return wanted / ((1 + growth) / (1 + log_multiplier * growth));
  }

  Result<void> read_yarn() {
    TANDEM_TRY(const bool truncates, parameters_.boolean_or("truncate", true));
    if (!truncates) {
      return failure(ErrorCode::kUnsupported, "{}: YaRN without truncation is not supported",
                     parameters_.source());
    }
    TANDEM_TRY(const float factor, required("factor"));
    TANDEM_TRY(const uint32_t original, original_context(context_length_));
    set("rope.scaling.type", std::string("yarn"));
    set("rope.scaling.factor", factor);
    set("rope.scaling.original_context_length", original);
    for (const char* name : {"beta_fast", "beta_slow"}) {
      TANDEM_TRY(const auto value, parameters_.f32(name));
      if (value) metadata_.set(shape_.architecture + ".rope.scaling.yarn_" + name, *value);
    }
    float log_multiplier = 0;
    if (shape_.architecture == "mistral3") {
      TANDEM_TRY(log_multiplier, parameters_.f32_or("mscale_all_dim", 0.0f));
      set("rope.scaling.yarn_log_multiplier", log_multiplier);
      TANDEM_TRY(const auto growth, parameters_.f32("llama_4_scaling_beta"));
      if (growth) set("attention.temperature_scale", *growth);
    }
    TANDEM_TRY(const float attention, yarn_attention_factor(factor, log_multiplier));
    if (std::abs(attention - 1) > 1e-6f) set("rope.scaling.attn_factor", attention);
    return {};
  }

  Result<std::vector<float>> divisors(const char* name) const {
    TANDEM_TRY(const auto values, parameters_.floats(name));
    if (!values || values->size() != n_rotated_ / 2) {
      return failure(ErrorCode::kCorruptFile, "{}: {} has {} numbers, must have {}",
                     parameters_.source(), name, values ? values->size() : 0, n_rotated_ / 2);
    }
    for (const float value : *values) {
      if (value > 0) continue;
      return failure(ErrorCode::kCorruptFile, "{}: {} holds {}, must be positive",
                     parameters_.source(), name, value);
    }
    return *values;
  }

  /// The magnitude grows with the stretch (LongRoPE, arXiv 2402.13753, as Phi-3's code has it).
  Result<void> read_longrope() {
    TANDEM_TRY(auto long_factors, divisors("long_factor"));
    TANDEM_TRY(auto short_factors, divisors("short_factor"));
    TANDEM_TRY(const uint32_t original, original_context(0));
    const float stretch = static_cast<float>(context_length_) / static_cast<float>(original);
    const float by_rule =
        stretch > 1 ? std::sqrt(1 + std::log(stretch) / std::log(static_cast<float>(original)))
                    : 1.0f;
    TANDEM_TRY(const float attention, parameters_.f32_or("attention_factor", by_rule));
    set("rope.scaling.type", std::string("longrope"));
    set("rope.scaling.original_context_length", original);
    set("rope.scaling.attn_factor", attention);
    shape_.computed.emplace_back("rope_factors_long.weight", std::move(long_factors));
    shape_.computed.emplace_back("rope_factors_short.weight", std::move(short_factors));
    return {};
  }

  const JsonConfig& config_;
  uint32_t context_length_;
  DecoderShape& shape_;
  Metadata& metadata_;
  const LogSink& log_;
  JsonConfig parameters_;
  float base_ = 0;
  uint32_t n_rotated_ = 0;
};

}  // namespace

std::vector<float> llama3_divisors(const Llama3Scaling& scaling) {
  const double longest_kept = scaling.original_context / double{scaling.high_freq_factor};
  const double shortest_slowed = scaling.original_context / double{scaling.low_freq_factor};
  std::vector<float> out;
  for (uint32_t pair = 0; pair < scaling.head_size / 2; ++pair) {
    const double wave = kTwoPi * std::pow(double{scaling.base}, 2.0 * pair / scaling.head_size);
    double divisor = 1;
    if (wave > shortest_slowed) {
      divisor = scaling.factor;
    } else if (wave >= longest_kept) {
      const double keep = (scaling.original_context / wave - scaling.low_freq_factor) /
                          (scaling.high_freq_factor - scaling.low_freq_factor);
      divisor = 1 / ((1 - keep) / scaling.factor + keep);
    }
    out.push_back(static_cast<float>(divisor));
  }
  return out;
}

Result<void> read_rope_config(const JsonConfig& config, uint32_t context_length,
                              DecoderShape& shape, Metadata& metadata, const LogSink& log) {
  return RopeReader(config, context_length, shape, metadata, log).read();
}

}  // namespace tandem
