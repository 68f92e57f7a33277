// Writes a model of a known shape with random weights.

#include "synth/synthesize.h"

#include <unistd.h>

#include <cstdio>

#include "base/cpu_features.h"
#include "formats/gguf_writer.h"
#include "model/model.h"
#include "synth/head_scale.h"
#include "synth/random_weights.h"
#include "synth/tensor_stream.h"
#include "synth/vocabulary.h"

namespace tandem {
namespace {

Result<void> write_file(const std::string& path, const SynthOptions& options) {
  Metadata metadata = shape_metadata(options.shape);
  if (options.vocabulary != nullptr) {
    TANDEM_TRY(copy_vocabulary(*options.vocabulary, options.shape.vocabulary, metadata));
  }
  const RandomWeights weights(options.shape, options.seed);
  const int n_threads = options.n_threads == 0 ? usable_processors() : options.n_threads;
  TensorStream stream(n_threads, [&](const ListedTensor& tensor, uint64_t row,
                                     std::span<float> out) { weights.fill_row(tensor, row, out); });
  std::vector<TensorToWrite> tensors;
  for (ListedTensor& tensor : list_tensors(options.shape)) {
    const DType type = options.types.choose(tensor, options.shape);
    tensors.push_back(stream.make(std::move(tensor), type));
  }
  return write_gguf(path, metadata, tensors, options.progress);
}

/// Multiplies output_norm.weight in the file; everything else stays.
Result<void> scale_output_norm(const std::string& path, float scale) {
  TANDEM_TRY(const auto model, Model::load(path));
  const TensorView* norm = model->find_tensor("output_norm.weight");
  const auto* values = reinterpret_cast<const float*>(norm->bytes.data());
  std::vector<float> scaled(values, values + norm->n_elements());
  for (float& x : scaled) x *= scale;
  const long offset = norm->bytes.data() - model->file().files[norm->file]->bytes().data();
  std::FILE* file = std::fopen(path.c_str(), "r+b");
  const bool written =
      file != nullptr && std::fseek(file, offset, SEEK_SET) == 0 &&
      std::fwrite(scaled.data(), sizeof(float), scaled.size(), file) == scaled.size();
  if (file != nullptr && std::fclose(file) == 0 && written) return {};
  return failure(ErrorCode::kIo, "{}: cannot write output_norm.weight", path);
}

}  // namespace

Result<SynthReport> synthesize(const std::string& path, const SynthOptions& options) {
  if (options.mean_top_probability == 0) {
    TANDEM_TRY(write_file(path, options));
    return SynthReport{};
  }
  const std::string unscaled = path + ".unscaled.tmp";
  TANDEM_TRY(write_file(unscaled, options));
  auto report =
      find_head_scale(unscaled, options.mean_top_probability, options.seed, options.n_threads);
  if (report) {
    auto scaled = scale_output_norm(unscaled, report->head_scale);
    if (!scaled) report = tl::unexpected(scaled.error());
  }
  if (report && std::rename(unscaled.c_str(), path.c_str()) != 0) {
    report = failure(ErrorCode::kIo, "{}: cannot rename {} to it", path, unscaled);
  }
  if (!report) unlink(unscaled.c_str());
  return report;
}

}  // namespace tandem
