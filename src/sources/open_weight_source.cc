// Finds out what lies at a path and opens it.

#include "sources/open_weight_source.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "formats/gguf_reader.h"
#include "formats/gguf_source.h"
#include "formats/gguf_split.h"
#include "formats/source_model_file.h"
#include "sources/huggingface/huggingface_source.h"
#include "sources/mlc/mlc_source.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

/// The names in a folder that matter to us.
struct FolderListing {
  bool has_config = false;
  bool has_mlc_config = false;
  bool has_safetensors = false;
  bool has_pickled_weights = false;
  std::vector<std::string> gguf_models;  ///< a split model counts once, by its first part
};

Result<FolderListing> list_folder(const std::string& path) {
  std::error_code error;
  fs::directory_iterator entries(path, error);
  if (error) return failure(ErrorCode::kIo, "{}: cannot list: {}", path, error.message());
  FolderListing out;
  std::set<std::string> gguf_models;
  while (entries != fs::directory_iterator()) {
    const std::string name = entries->path().filename().string();
    const std::string extension = entries->path().extension().string();
    out.has_config |= name == "config.json";
    out.has_mlc_config |= name == "mlc-chat-config.json";
    out.has_safetensors |= extension == ".safetensors";
    out.has_pickled_weights |= name.starts_with("pytorch_model");
    if (extension == ".gguf") {
      const auto part = GgufPartName::parse(entries->path().string());
      gguf_models.insert(part ? part->path_of(0) : entries->path().string());
    }
    entries.increment(error);
    if (error) return failure(ErrorCode::kIo, "{}: cannot list: {}", path, error.message());
  }
  out.gguf_models.assign(gguf_models.begin(), gguf_models.end());
  return out;
}

Result<std::unique_ptr<const WeightSource>> open_file(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  if (name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json") ||
      name == "config.json" || name == "mlc-chat-config.json") {
    return failure(ErrorCode::kInvalidArgument,
                   "{}: part of a model that is a folder; name the folder", path);
  }
  TANDEM_TRY(ModelFile file, open_gguf(path));
  return make_gguf_source(std::move(file));
}

Result<std::unique_ptr<const WeightSource>> open_folder(const std::string& path,
                                                        const WeightSourceOptions& options) {
  TANDEM_TRY(const FolderListing listing, list_folder(path));
  if (listing.has_mlc_config) return open_mlc_folder(path, options);
  if (listing.has_config && listing.has_safetensors) return open_huggingface_folder(path, options);
  if (listing.gguf_models.size() == 1) return open_file(listing.gguf_models.front());
  if (listing.gguf_models.size() > 1) {
    return failure(ErrorCode::kInvalidArgument, "{}: holds several GGUF models; name one of {}",
                   path, fmt::join(listing.gguf_models, ", "));
  }
  if (listing.has_pickled_weights) {
    return failure(ErrorCode::kUnsupported,
                   "{}: has pickled PyTorch weights only; save the model as safetensors", path);
  }
  return failure(ErrorCode::kNotFound,
                 "{}: no model in this folder; looked for config.json with *.safetensors, "
                 "mlc-chat-config.json, *.gguf",
                 path);
}

}  // namespace

Result<std::unique_ptr<const WeightSource>> open_weight_source(const std::string& path,
                                                               const WeightSourceOptions& options) {
  std::error_code error;
  return fs::is_directory(path, error) ? open_folder(path, options) : open_file(path);
}

Result<ModelFile> open_model_file(const std::string& path, const WeightSourceOptions& options) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return open_gguf(path);
  TANDEM_TRY(const auto source, open_weight_source(path, options));
  return model_file_of(*source);
}

}  // namespace tandem
