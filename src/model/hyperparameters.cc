// Reads and checks the sizes that every architecture shares.

#include "model/hyperparameters.h"

#include <cmath>
#include <utility>

namespace tandem {
namespace {

constexpr uint32_t kMaxLayers = 1024;
constexpr uint32_t kMaxHeads = 4096;
constexpr uint32_t kMaxWidth = 1u << 20;
constexpr uint32_t kMaxContext = 1u << 28;

/// Reads keys "<architecture>.<name>" and checks their ranges.
class Reader {
 public:
  Reader(const Metadata& metadata, std::string architecture)
      : metadata_(metadata), architecture_(std::move(architecture)) {}

  std::string key(const char* name) const { return architecture_ + "." + name; }

  Result<uint32_t> size(const char* name, uint32_t limit) const {
    TANDEM_TRY(const uint32_t value, metadata_.u32(key(name)));
    return in_range(name, value, limit);
  }

  Result<uint32_t> size_or(const char* name, uint32_t otherwise, uint32_t limit) const {
    TANDEM_TRY(const uint32_t value, metadata_.u32_or(key(name), otherwise));
    return in_range(name, value, limit);
  }

  Result<float> positive_or(const char* name, float otherwise) const {
    TANDEM_TRY(const float value, metadata_.f32_or(key(name), otherwise));
    if (!std::isfinite(value) || value < 0) {
      return failure(ErrorCode::kCorruptFile, "{}: {} is {}, must be finite and not negative",
                     metadata_.source(), key(name), value);
    }
    return value;
  }

  const Metadata& metadata() const { return metadata_; }

 private:
  Result<uint32_t> in_range(const char* name, uint32_t value, uint32_t limit) const {
    if (value >= 1 && value <= limit) return value;
    return failure(ErrorCode::kCorruptFile, "{}: {} is {}, must be between 1 and {}",
                   metadata_.source(), key(name), value, limit);
  }

  const Metadata& metadata_;
  std::string architecture_;
};

Result<RopeScaling::Kind> read_scaling_kind(const Reader& reader) {
  // Converters have written this under both names.
  const std::string usual = reader.key("rope.scaling.type");
  const std::string used =
      reader.metadata().contains(usual) ? usual : reader.key("rope.scaling.rope_type");
  TANDEM_TRY(const std::string kind, reader.metadata().string_or(used, "none"));
  if (kind == "none" || kind == "llama3") return RopeScaling::Kind::kNone;
  if (kind == "linear") return RopeScaling::Kind::kLinear;
  if (kind == "yarn") return RopeScaling::Kind::kYarn;
  if (kind == "longrope" || kind == "su") return RopeScaling::Kind::kLongRope;
  return failure(ErrorCode::kUnsupported,
                 "{}: {} is \"{}\"; known are none, linear, llama3, yarn, longrope",
                 reader.metadata().source(), used, kind);
}

Result<RopeScaling> read_scaling(const Reader& reader, uint32_t context_length) {
  RopeScaling out;
  TANDEM_TRY(out.kind, read_scaling_kind(reader));
  TANDEM_TRY(const float legacy, reader.positive_or("rope.scale_linear", 1.0f));
  TANDEM_TRY(out.factor, reader.positive_or("rope.scaling.factor", legacy));
  if (out.factor == 0) out.factor = 1.0f;
  const bool stated_by_factor_alone = out.kind == RopeScaling::Kind::kNone && out.factor != 1.0f &&
                                      !reader.metadata().contains(reader.key("rope.scaling.type"));
  if (stated_by_factor_alone) out.kind = RopeScaling::Kind::kLinear;
  TANDEM_TRY(out.original_context,
             reader.size_or("rope.scaling.original_context_length", context_length, kMaxContext));
  TANDEM_TRY(out.attention_factor, reader.positive_or("rope.scaling.attn_factor", 0.0f));
  TANDEM_TRY(out.yarn_extrapolation, reader.positive_or("rope.scaling.yarn_ext_factor", 1.0f));
  TANDEM_TRY(out.yarn_beta_fast, reader.positive_or("rope.scaling.yarn_beta_fast", 32.0f));
  TANDEM_TRY(out.yarn_beta_slow, reader.positive_or("rope.scaling.yarn_beta_slow", 1.0f));
  TANDEM_TRY(out.yarn_log_multiplier, reader.positive_or("rope.scaling.yarn_log_multiplier", 0.0f));
  return out;
}

Result<void> read_heads(const Reader& reader, Hyperparameters& h) {
  TANDEM_TRY(h.n_heads, reader.size("attention.head_count", kMaxHeads));
  TANDEM_TRY(h.n_kv_heads, reader.size_or("attention.head_count_kv", h.n_heads, kMaxHeads));
  if (h.n_heads % h.n_kv_heads != 0) {
    return failure(ErrorCode::kCorruptFile, "{}: {} is {}, must divide {} = {}",
                   reader.metadata().source(), reader.key("attention.head_count_kv"), h.n_kv_heads,
                   reader.key("attention.head_count"), h.n_heads);
  }
  const uint32_t even_share = std::max(1u, h.width / h.n_heads);
  TANDEM_TRY(h.key_size, reader.size_or("attention.key_length", even_share, kMaxWidth));
  TANDEM_TRY(h.value_size, reader.size_or("attention.value_length", even_share, kMaxWidth));
  if (uint64_t{h.n_heads} * std::max(h.key_size, h.value_size) > kMaxWidth) {
    return failure(ErrorCode::kCorruptFile, "{}: {} heads of {} channels exceed {} channels",
                   reader.metadata().source(), h.n_heads, std::max(h.key_size, h.value_size),
                   kMaxWidth);
  }
  TANDEM_TRY(h.attention_scale, reader.positive_or("attention.scale", 0.0f));
  if (h.attention_scale == 0) h.attention_scale = 1.0f / std::sqrt(static_cast<float>(h.key_size));
  return {};
}

Result<void> read_rope(const Reader& reader, Hyperparameters& h) {
  TANDEM_TRY(h.n_rotated, reader.size_or("rope.dimension_count", h.key_size, kMaxWidth));
  if (h.n_rotated > h.key_size || h.n_rotated % 2 != 0) {
    return failure(
        ErrorCode::kCorruptFile, "{}: {} is {}, must be even and at most the head's {} channels",
        reader.metadata().source(), reader.key("rope.dimension_count"), h.n_rotated, h.key_size);
  }
  TANDEM_TRY(h.rope_base, reader.positive_or("rope.freq_base", 10000.0f));
  TANDEM_TRY(h.rope_scaling, read_scaling(reader, h.context_length));
  return {};
}

}  // namespace

Result<Hyperparameters> Hyperparameters::read(const ModelFile& file) {
  Hyperparameters h;
  TANDEM_TRY(h.architecture, file.metadata.string("general.architecture"));
  const Reader reader(file.metadata, h.architecture);
  TANDEM_TRY(h.n_layers, reader.size("block_count", kMaxLayers));
  TANDEM_TRY(h.width, reader.size("embedding_length", kMaxWidth));
  TANDEM_TRY(h.ffn_width, reader.size("feed_forward_length", kMaxWidth));
  TANDEM_TRY(h.context_length, reader.size("context_length", kMaxContext));
  TANDEM_TRY(h.norm_epsilon, reader.positive_or("attention.layer_norm_rms_epsilon", 1e-5f));
  TANDEM_TRY(h.window, file.metadata.u32_or(reader.key("attention.sliding_window"), 0));
  TANDEM_TRY(read_heads(reader, h));
  TANDEM_TRY(read_rope(reader, h));

  const TensorView* embedding = file.find("token_embd.weight");
  if (embedding == nullptr || embedding->dims.size() != 2) {
    return failure(
        ErrorCode::kCorruptFile, "{}: tensor token_embd.weight {}", file.metadata.source(),
        embedding == nullptr ? "is missing" : "is no matrix: " + embedding->shape_text());
  }
  if (embedding->dims[1] > kMaxContext) {
    return failure(ErrorCode::kCorruptFile, "{}: token_embd.weight has {} rows, limit {}",
                   file.metadata.source(), embedding->dims[1], kMaxContext);
  }
  h.vocabulary = static_cast<uint32_t>(embedding->dims[1]);
  return h;
}

}  // namespace tandem
