// Opens a model file and builds its graphs.

#include "model/model.h"

#include <algorithm>

#include "base/hash.h"
#include "model/architecture.h"
#include "model/graph_context.h"
#include "sources/open_weight_source.h"

namespace tandem {
namespace {

/// Hashes names, types and shapes of all tensors and a sample of their bytes: reading every byte
/// would double the time to the first token.
uint64_t fingerprint_of(const ModelFile& file) {
  constexpr size_t kSampleBytes = 4096;
  uint64_t hash = 0;
  for (const TensorView& t : file.tensors) {
    hash = content_hash(std::as_bytes(std::span(t.name)), hash);
    hash = content_hash(std::as_bytes(std::span(t.dims)), hash + static_cast<uint64_t>(t.type));
    const size_t n_bytes = std::min(kSampleBytes, t.bytes.size());
    hash = content_hash(t.bytes.first(n_bytes), hash);
    hash = content_hash(t.bytes.last(n_bytes), hash);
    if (t.nested) hash += t.nested->checksum;
  }
  return hash;
}

}  // namespace

Result<std::shared_ptr<const Model>> Model::load(const std::string& path,
                                                 const ModelOptions& options) {
  TANDEM_TRY(ModelFile file, open_model_file(path, {.log = options.tokenizer.log}));
  return from_file(std::move(file), options);
}

Result<std::shared_ptr<const Model>> Model::from_file(ModelFile file, const ModelOptions& options) {
  auto model = std::shared_ptr<Model>(new Model);
  TANDEM_TRY(attach_low_planes(file, options.missing_planes));
  model->file_ = std::move(file);
  const Metadata& metadata = model->metadata();
  for (const TensorView& t : model->file_.tensors) model->tensors_by_name_.emplace(t.name, &t);
  TANDEM_TRY(model->linear_inputs_, read_linear_inputs(metadata));
  TANDEM_TRY(const std::string architecture, metadata.string("general.architecture"));
  auto found = find_architecture(architecture);
  if (!found) return tl::unexpected(found.error().within(metadata.source()));
  model->architecture_ = *found;
  TANDEM_TRY(model->hyperparameters_, Hyperparameters::read(model->file_));
  if (metadata.contains("tokenizer.ggml.tokens")) {
    TANDEM_TRY(model->tokenizer_, Tokenizer::from_metadata(metadata, options.tokenizer));
    const uint32_t n_tokens = static_cast<uint32_t>(model->tokenizer_->n_tokens());
    if (n_tokens > model->hyperparameters_.vocabulary) {
      return failure(ErrorCode::kCorruptFile,
                     "{}: the tokenizer has {} tokens, token_embd.weight only {} rows",
                     metadata.source(), n_tokens, model->hyperparameters_.vocabulary);
    }
  }
  TANDEM_TRY(model->chat_template_, metadata.string_or("tokenizer.chat_template", ""));
  model->fingerprint_ = fingerprint_of(model->file_);
  return std::shared_ptr<const Model>(std::move(model));
}

bool Model::is_nested() const {
  return std::ranges::any_of(file_.tensors,
                             [](const TensorView& t) { return t.nested != nullptr; });
}

const TensorView* Model::find_tensor(const std::string& name) const {
  const auto found = tensors_by_name_.find(name);
  return found == tensors_by_name_.end() ? nullptr : found->second;
}

Result<Graph> build_graph(const Model& model, Phase phase, const GraphOptions& options) {
  GraphContext context(model, phase, options);
  TANDEM_TRY(const ValueId logits, model.architecture().build(context));
  return context.build.finish(logits);
}

}  // namespace tandem
