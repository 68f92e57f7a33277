// A source of weights as a model file.

#include "formats/source_model_file.h"

#include <algorithm>
#include <utility>

#include "base/buffer.h"

namespace tandem {
namespace {

/// Kernels load whole vectors.
constexpr size_t kAlignment = 64;

size_t aligned(size_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

/// Memory in place of a mapped file: a view whose last owner lets go of the memory too.
std::shared_ptr<const MappedFile> file_of(std::string name, Buffer memory) {
  auto view = MappedFile::view(std::move(name), memory.bytes());
  auto owner = std::make_shared<const Buffer>(std::move(memory));
  return {view.get(), [view, owner](const MappedFile*) {}};
}

size_t exact_bytes(const SourceTensor& tensor) {
  return row_bytes(tensor.exact_type, tensor.row_length()) * tensor.n_rows();
}

uint32_t index_of(ModelFile& model, std::shared_ptr<const MappedFile> file) {
  const auto found = std::find(model.files.begin(), model.files.end(), file);
  if (found != model.files.end()) return static_cast<uint32_t>(found - model.files.begin());
  model.files.push_back(std::move(file));
  return static_cast<uint32_t>(model.files.size() - 1);
}

/// Everything but the tensors that have to be read.
ModelFile listing_of(const WeightSource& source) {
  ModelFile model;
  model.metadata = source.metadata();
  model.format = source.format();
  for (size_t i = 0; i < source.tensors().size(); ++i) {
    const SourceTensor& tensor = source.tensors()[i];
    TensorView view{
        .name = tensor.name, .type = tensor.exact_type, .dims = tensor.dims, .bytes = {}};
    if (const auto mapped = source.mapped(i)) {
      view.bytes = mapped->bytes;
      view.file = index_of(model, mapped->file);
    }
    model.tensors.push_back(std::move(view));
  }
  return model;
}

}  // namespace

Result<ModelFile> model_file_of(const WeightSource& source) {
  ModelFile model = listing_of(source);
  size_t total = 0;
  for (size_t i = 0; i < model.tensors.size(); ++i) {
    if (model.tensors[i].bytes.empty()) total += aligned(exact_bytes(source.tensors()[i]));
  }
  if (total == 0) return model;
  TANDEM_TRY(Buffer memory, Buffer::allocate(total, "weights of another layout"));
  std::byte* next = memory.data();
  const auto own_file = static_cast<uint32_t>(model.files.size());
  for (size_t i = 0; i < model.tensors.size(); ++i) {
    TensorView& view = model.tensors[i];
    if (!view.bytes.empty()) continue;
    const SourceTensor& tensor = source.tensors()[i];
    const size_t n_bytes = exact_bytes(tensor);
    TANDEM_TRY(source.read_exact(i, 0, tensor.n_rows(), next));
    source.release(i);
    view.bytes = {next, n_bytes};
    view.file = own_file;
    next += aligned(n_bytes);
  }
  model.files.push_back(file_of(source.metadata().source() + " (in memory)", std::move(memory)));
  return model;
}

}  // namespace tandem
