// A Hugging Face model folder as a source of weights.

#include "sources/huggingface/huggingface_source.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sources/checkpoint.h"
#include "sources/huggingface/model_config.h"
#include "sources/huggingface/ternary_rows.h"
#include "sources/huggingface/tokenizer_keys.h"
#include "sources/safetensors/safetensors_folder.h"

namespace tandem {
namespace {

/// BitNet's matrices: packed, or rounded to three values in use.
class TernaryMaker {
 public:
  explicit TernaryMaker(const DecoderShape& shape) : kind_(shape.ternary) {}

  Result<std::optional<StoredRows>> operator()(const PlannedTensor& planned,
                                               StoredTensors& stored) const {
    if (kind_ == TernaryWeights::kNone || !planned.is_linear) return std::nullopt;
    const StoredTensor* tensor = stored.take(planned.stored);
    if (tensor == nullptr) return std::nullopt;
    const bool is_packed = tensor->type == StoredType::kU8;
    if (is_packed == (kind_ == TernaryWeights::kRounded)) return std::nullopt;
    if (!is_packed && !weight_type(tensor->type)) return std::nullopt;
    StoredRows out{.rows = nullptr,
                   .stored_name = tensor->name,
                   .stored_type = is_packed ? "U8 (ternary)" : "rounded to ternary",
                   .stored_bytes = tensor->bytes.size()};
    const RowOrder order{.first = 0, .head_rows = planned.head_rows};
    if (is_packed) {
      TANDEM_TRY(const float scale, read_scale(planned, *tensor, stored));
      out.rows = packed_ternary_rows({.packed = *tensor, .scale = scale, .order = order});
    } else {
      TANDEM_TRY(
          check_stored_shape(stored.source(), *tensor, {planned.stored_extent, planned.columns}));
      out.rows = rounded_ternary_rows({.tensor = *tensor, .order = order});
    }
    return out;
  }

 private:
  Result<float> read_scale(const PlannedTensor& planned, const StoredTensor& packed,
                           StoredTensors& stored) const {
    if (planned.rows % 4 != 0) {
      return failure(ErrorCode::kCorruptFile,
                     "{}: tensor {} is packed, but has {} rows, not 4 times any", stored.source(),
                     packed.name, planned.rows);
    }
    TANDEM_TRY(check_stored_shape(stored.source(), packed, {planned.rows / 4, planned.columns}));
    const StoredTensor* scale = stored.take(planned.stored + "_scale");
    float value = 0;
    const bool is_number = scale != nullptr && has_plain_rows(scale->type) &&
                           scale->bytes.size() == info(scale->type).n_bytes;
    if (is_number) {
      const auto row =
          plain_rows({.tensor = *scale, .row_length = 1, .n_rows = 1, .order = {}, .addend = 0});
      TANDEM_TRY(row->decode(0, 1, &value));
    }
    if (!(value > 0) || !std::isfinite(value)) {
      return failure(ErrorCode::kCorruptFile, "{}: tensor {}_scale must be one positive number",
                     stored.source(), planned.stored);
    }
    return kind_ == TernaryWeights::kDivide ? 1 / value : value;
  }

  TernaryWeights kind_;
};

/// The ids of config.json (also of its text_config) and of generation_config.json.
Result<std::vector<uint32_t>> end_ids(const std::string& folder, const JsonConfig& config) {
  TANDEM_TRY(std::vector<uint32_t> ids, config.u32_list("eos_token_id"));
  TANDEM_TRY(const auto text, config.object("text_config"));
  if (text) {
    TANDEM_TRY(const auto more, text->u32_list("eos_token_id"));
    ids.insert(ids.end(), more.begin(), more.end());
  }
  TANDEM_TRY(const JsonConfig generation,
             JsonConfig::load_if_present(folder + "/generation_config.json"));
  TANDEM_TRY(const auto more, generation.u32_list("eos_token_id"));
  ids.insert(ids.end(), more.begin(), more.end());
  std::vector<uint32_t> unique;
  for (const uint32_t id : ids) {
    if (std::find(unique.begin(), unique.end(), id) == unique.end()) unique.push_back(id);
  }
  return unique;
}

}  // namespace

Result<std::unique_ptr<const WeightSource>> open_huggingface_folder(
    const std::string& folder, const WeightSourceOptions& options) {
  TANDEM_TRY(const JsonConfig config, JsonConfig::load(folder + "/config.json"));
  Metadata metadata(folder);
  TANDEM_TRY(const DecoderShape shape, read_model_config(config, metadata, options.log));
  metadata.set("general.name", folder_name(folder));
  TokenizerFolder tokenizer{.folder = folder, .vocabulary = shape.vocabulary, .end_ids = {}};
  TANDEM_TRY(tokenizer.end_ids, end_ids(folder, config));
  TANDEM_TRY(read_tokenizer_keys(tokenizer, metadata, options.log));
  TANDEM_TRY(std::vector<StoredTensor> tensors_of_files, open_safetensors_folder(folder));
  TANDEM_TRY(StoredTensors stored, StoredTensors::create(folder, std::move(tensors_of_files)));
  TANDEM_TRY(auto tensors,
             resolve_tensors(shape, CheckpointNames::kHuggingFace, stored, TernaryMaker(shape)));
  return make_composite_source(std::move(metadata), "Hugging Face safetensors", std::move(tensors));
}

}  // namespace tandem
