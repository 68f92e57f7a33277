// Pads a trained model to a larger shape without changing its function.

#include "synth/grow.h"

#include "base/cpu_features.h"
#include "formats/gguf_writer.h"
#include "synth/grown_weights.h"
#include "synth/tensor_stream.h"
#include "synth/vocabulary.h"

namespace tandem {
namespace {

Result<void> check_size(const char* what, uint32_t source, uint32_t shape) {
  if (source <= shape) return {};
  return failure(ErrorCode::kInvalidArgument, "the shape's {} is {}, the model already has {}",
                 what, shape, source);
}

Result<void> check_fits(const Hyperparameters& h, const ModelShape& s) {
  if (h.architecture != s.architecture || h.architecture != "qwen3") {
    return failure(ErrorCode::kInvalidArgument,
                   "cannot grow a {} model to the {} shape {}: both must be qwen3", h.architecture,
                   s.architecture, s.name);
  }
  TANDEM_TRY(check_size("layer count", h.n_layers, s.n_layers));
  TANDEM_TRY(check_size("width less the added constant channel", h.width, s.width - 1));
  TANDEM_TRY(check_size("key/value heads", h.n_kv_heads, s.n_kv_heads));
  TANDEM_TRY(check_size("query heads per key/value head", h.n_heads / h.n_kv_heads,
                        s.n_heads / s.n_kv_heads));
  TANDEM_TRY(check_size("feed-forward width", h.ffn_width, s.ffn_width));
  TANDEM_TRY(check_size("vocabulary", h.vocabulary, s.vocabulary));
  TANDEM_TRY(check_size("value size", h.value_size, s.value_size));
  if (s.key_size % h.key_size == 0 && h.n_rotated == h.key_size && s.tied) return {};
  return failure(ErrorCode::kInvalidArgument,
                 "the shape must have tied embeddings and a head size that is a multiple of {}, "
                 "it has {}",
                 h.key_size, s.key_size);
}

}  // namespace

Result<void> grow(const std::string& path, const Model& source, const GrowOptions& options) {
  const Hyperparameters& h = source.hyperparameters();
  TANDEM_TRY(check_fits(h, options.shape));
  ModelShape shape = options.shape;
  shape.rope_base = h.rope_base;
  shape.norm_epsilon = h.norm_epsilon * static_cast<float>(h.width) / shape.width;
  Metadata metadata = shape_metadata(shape);
  TANDEM_TRY(const std::string name, source.metadata().string_or("general.name", "model"));
  metadata.set("general.name", name + " grown to " + shape.name);
  TANDEM_TRY(copy_vocabulary(source.metadata(), shape.vocabulary, metadata));

  const GrownWeights weights(source, shape, options.seed);
  const int n_threads = options.n_threads == 0 ? usable_processors() : options.n_threads;
  TensorStream stream(n_threads, [&](const ListedTensor& tensor, uint64_t row,
                                     std::span<float> out) { weights.fill_row(tensor, row, out); });
  std::vector<TensorToWrite> tensors;
  for (ListedTensor& tensor : list_tensors(shape)) {
    const DType type = options.types.choose(tensor, shape);
    tensors.push_back(stream.make(std::move(tensor), type));
  }
  return write_gguf(path, metadata, tensors, options.progress);
}

}  // namespace tandem
