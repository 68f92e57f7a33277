// Opens GGUF models of one or several files.

#include "formats/gguf_reader.h"

#include <utility>
#include <vector>

#include "formats/gguf_part.h"
#include "formats/gguf_split.h"

namespace tandem {
namespace {

/// The first part's metadata stands for the model; the others hold only their place in the split.
ModelFile joined(std::vector<GgufPart> parts) {
  ModelFile model;
  model.metadata = std::move(parts.front().metadata);
  model.format = fmt::format("GGUF v{}", parts.front().version);
  for (GgufPart& part : parts) {
    const auto index = static_cast<uint32_t>(model.files.size());
    for (TensorView& tensor : part.tensors) {
      tensor.file = index;
      model.tensors.push_back(std::move(tensor));
    }
    model.files.push_back(std::move(part.file));
  }
  return model;
}

ModelFile whole(GgufPart part) {
  std::vector<GgufPart> parts;
  parts.push_back(std::move(part));
  return joined(std::move(parts));
}

}  // namespace

Result<ModelFile> open_gguf(const std::string& path) {
  TANDEM_TRY(auto file, MappedFile::open(path));
  TANDEM_TRY(GgufPart part, parse_gguf_part(std::move(file)));
  TANDEM_TRY(const auto split, read_gguf_split(part));
  if (!split) return whole(std::move(part));
  TANDEM_TRY(auto parts, open_gguf_siblings(std::move(part), *split));
  return joined(std::move(parts));
}

Result<ModelFile> parse_gguf(std::shared_ptr<const MappedFile> file) {
  TANDEM_TRY(GgufPart part, parse_gguf_part(std::move(file)));
  TANDEM_TRY(const auto split, read_gguf_split(part));
  if (!split) return whole(std::move(part));
  return failure(ErrorCode::kUnsupported,
                 "{}: part {} of {} of a split model, but a whole model is needed here",
                 part.file->path(), split->number + 1, split->count);
}

}  // namespace tandem
