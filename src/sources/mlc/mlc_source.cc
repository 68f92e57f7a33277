// An MLC model folder as a source of weights.

#include "sources/mlc/mlc_source.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "sources/checkpoint.h"
#include "sources/huggingface/model_config.h"
#include "sources/huggingface/tokenizer_keys.h"
#include "sources/mlc/group_rows.h"
#include "sources/mlc/tensor_cache.h"

namespace tandem {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 3> kUnquantized{"q0f16", "q0bf16", "q0f32"};

/// MLC renames a few settings when it reads a config.json, and writes -1 or 0 for "not set".
void rename_settings(Json& config) {
  constexpr std::array<std::pair<const char*, const char*>, 3> kNames{
      {{"context_window_size", "max_position_embeddings"},
       {"position_embedding_base", "rope_theta"},
       {"sliding_window_size", "sliding_window"}}};
  for (const auto& [mlc, original] : kNames) {
    const auto found = config.find(mlc);
    if (found == config.end()) continue;
    const bool is_set = found->is_number() && found->get<double>() > 0;
    if (is_set && !config.contains(original)) config[original] = *found;
    config.erase(mlc);
  }
  for (const char* name : {"head_dim", "num_key_value_heads", "original_max_position_embeddings"}) {
    const auto found = config.find(name);
    if (found != config.end() && *found == 0) config.erase(name);
  }
  for (const char* name : {"rope_scaling", "rope_parameters"}) {
    const auto found = config.find(name);
    if (found != config.end() && !found->is_object()) config.erase(name);
  }
}

/// The group-quantized matrices of one folder.
class GroupMaker {
 public:
  explicit GroupMaker(std::optional<GroupQuantization> format) : format_(format) {}

  Result<std::optional<StoredRows>> operator()(const PlannedTensor& planned,
                                               StoredTensors& stored) const {
    constexpr std::string_view kWeight = ".weight";
    if (!format_ || planned.is_vector || !planned.stored.ends_with(kWeight)) return std::nullopt;
    const std::string module = planned.stored.substr(0, planned.stored.size() - kWeight.size());
    const StoredTensor* words = stored.take(module + ".q_weight");
    if (words == nullptr) return std::nullopt;
    const StoredTensor* scales = stored.take(module + ".q_scale");
    if (scales == nullptr) {
      return failure(ErrorCode::kCorruptFile, "{}: array {}.q_scale is missing", stored.source(),
                     module);
    }
    const bool is_embedding = planned.name == "token_embd.weight";
    const bool transposed = format_->transposes_linear && !is_embedding;
    TANDEM_TRY(check(planned, *words, *scales, transposed, stored.source()));
    return StoredRows{
        .rows = group_rows({.words = *words,
                            .scales = *scales,
                            .format = *format_,
                            .transposed = transposed,
                            .row_length = planned.columns,
                            .order = {.first = planned.first, .head_rows = planned.head_rows}}),
        .stored_name = module + ".q_weight",
        .stored_type = std::string(format_->name),
        .stored_bytes =
            (words->bytes.size() + scales->bytes.size()) / planned.stored_extent * planned.rows};
  }

 private:
  Result<void> check(const PlannedTensor& planned, const StoredTensor& words,
                     const StoredTensor& scales, bool transposed, const std::string& source) const {
    const uint64_t n_groups = (planned.columns + format_->group_size - 1) / format_->group_size;
    std::vector<uint64_t> word_shape{planned.stored_extent, n_groups * format_->words_per_group()};
    std::vector<uint64_t> scale_shape{planned.stored_extent, n_groups};
    if (transposed) {
      std::swap(word_shape[0], word_shape[1]);
      std::swap(scale_shape[0], scale_shape[1]);
    }
    TANDEM_TRY(check_stored_shape(source, words, word_shape));
    TANDEM_TRY(check_stored_shape(source, scales, scale_shape));
    if (words.type == StoredType::kU32 && weight_type(scales.type)) return {};
    return failure(ErrorCode::kCorruptFile,
                   "{}: {} is {} and {} is {}; expected uint32 and a float of 16 or 32 bits",
                   source, words.name, info(words.type).numpy_name, scales.name,
                   info(scales.type).numpy_name);
  }

  std::optional<GroupQuantization> format_;
};

Result<GroupMaker> maker_for(const JsonConfig& chat_config) {
  TANDEM_TRY(const std::string name, chat_config.required_string("quantization"));
  const auto format = group_quantization_by_name(name);
  const bool plain =
      std::find(kUnquantized.begin(), kUnquantized.end(), name) != kUnquantized.end();
  if (format || plain) return GroupMaker(format);
  return failure(ErrorCode::kUnsupported,
                 "{}: quantization \"{}\" is not known; known are q0f16, q0bf16, q0f32, q3f16_0, "
                 "q3f16_1, q4f16_0, q4f16_1, q4f16_2, q4f32_1, q4bf16_0, q4bf16_1",
                 chat_config.source(), name);
}

/// Ids that end a reply: of the configuration and of the conversation template.
Result<std::vector<uint32_t>> end_ids(const JsonConfig& chat_config) {
  TANDEM_TRY(std::vector<uint32_t> ids, chat_config.u32_list("eos_token_id"));
  const Json* conversation = chat_config.find("conv_template");
  if (conversation == nullptr || !conversation->is_object()) return ids;
  TANDEM_TRY(const auto object, chat_config.object("conv_template"));
  TANDEM_TRY(const auto stops, object->u32_list("stop_token_ids"));
  for (const uint32_t id : stops) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  return ids;
}

}  // namespace

Result<JsonConfig> mlc_model_config(const JsonConfig& chat_config) {
  TANDEM_TRY(const std::string type, chat_config.required_string("model_type"));
  TANDEM_TRY(const auto model, chat_config.object("model_config"));
  if (!model) {
    return failure(ErrorCode::kCorruptFile, "{}: model_config is missing", chat_config.source());
  }
  Json config = model->value();
  rename_settings(config);
  if (config.contains("text_config") && config["text_config"].is_object()) {
    rename_settings(config["text_config"]);
    config["text_config"].erase("model_type");
  }
  config["model_type"] = type;
  return JsonConfig::from_value(model->source(), std::move(config));
}

Result<std::unique_ptr<const WeightSource>> open_mlc_folder(const std::string& folder,
                                                            const WeightSourceOptions& options) {
  TANDEM_TRY(const JsonConfig chat_config, JsonConfig::load(folder + "/mlc-chat-config.json"));
  TANDEM_TRY(const GroupMaker maker, maker_for(chat_config));
  TANDEM_TRY(const JsonConfig config, mlc_model_config(chat_config));
  Metadata metadata(folder);
  TANDEM_TRY(const DecoderShape shape, read_model_config(config, metadata, options.log));
  metadata.set("general.name", folder_name(folder));
  TokenizerFolder tokenizer{.folder = folder, .vocabulary = shape.vocabulary, .end_ids = {}};
  TANDEM_TRY(tokenizer.end_ids, end_ids(chat_config));
  TANDEM_TRY(read_tokenizer_keys(tokenizer, metadata, options.log));
  TANDEM_TRY(std::vector<StoredTensor> arrays, open_tensor_cache(folder));
  TANDEM_TRY(StoredTensors stored, StoredTensors::create(folder, std::move(arrays)));
  TANDEM_TRY(auto tensors, resolve_tensors(shape, CheckpointNames::kMlc, stored, maker));
  TANDEM_TRY(const std::string quantization, chat_config.required_string("quantization"));
  return make_composite_source(std::move(metadata), "MLC " + quantization, std::move(tensors));
}

}  // namespace tandem
