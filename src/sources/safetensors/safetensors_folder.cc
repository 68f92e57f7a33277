// The safetensors files of a model folder.

#include "sources/safetensors/safetensors_folder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <unordered_map>

#include "sources/json_file.h"
#include "sources/safetensors/safetensors.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWholeName = "model.safetensors";
constexpr const char* kIndexName = "model.safetensors.index.json";

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// Tensor name to file name.
using WeightMap = std::map<std::string, std::string>;

Result<WeightMap> read_index(const std::string& path) {
  TANDEM_TRY(const JsonConfig index, JsonConfig::load(path));
  TANDEM_TRY(const auto weight_map, index.object("weight_map"));
  if (!weight_map || weight_map->value().empty()) {
    return failure(ErrorCode::kCorruptFile, "{}: weight_map is missing or empty", path);
  }
  WeightMap out;
  for (const auto& [name, file] : weight_map->value().items()) {
    if (!file.is_string()) {
      return failure(ErrorCode::kCorruptFile, "{}: weight_map names no file for {}", path, name);
    }
    TANDEM_TRY(check_file_name(path, file.get_ref<const std::string&>()));
    out.emplace(name, file.get<std::string>());
  }
  return out;
}

Result<std::vector<StoredTensor>> open_file(const fs::path& path) {
  TANDEM_TRY(const auto file, MappedFile::open(path.string()));
  return parse_safetensors(file);
}

Result<std::vector<StoredTensor>> open_shards(const fs::path& folder) {
  const std::string index_path = (folder / kIndexName).string();
  TANDEM_TRY(const WeightMap weight_map, read_index(index_path));
  std::set<std::string> names;
  for (const auto& [tensor, file] : weight_map) names.insert(file);
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    if (!is_there(folder / name)) missing.push_back(name);
  }
  if (!missing.empty()) {
    return failure(ErrorCode::kNotFound, "{}: {} of {} files are missing: {}", index_path,
                   missing.size(), names.size(), fmt::join(missing, ", "));
  }
  std::vector<StoredTensor> tensors;
  std::unordered_map<std::string, std::string> found_in;
  for (const std::string& name : names) {
    TANDEM_TRY(std::vector<StoredTensor> part, open_file(folder / name));
    for (StoredTensor& tensor : part) {
      const auto [known, is_new] = found_in.emplace(tensor.name, name);
      if (!is_new) {
        return failure(ErrorCode::kCorruptFile, "{}: tensor {} is in both {} and {}", index_path,
                       tensor.name, known->second, name);
      }
      tensors.push_back(std::move(tensor));
    }
  }
  for (const auto& [tensor, file] : weight_map) {
    const auto found = found_in.find(tensor);
    if (found != found_in.end() && found->second == file) continue;
    return failure(ErrorCode::kCorruptFile, "{}: tensor {} should be in {} and is not", index_path,
                   tensor, file);
  }
  return tensors;
}

}  // namespace

Result<std::vector<StoredTensor>> open_safetensors_folder(const std::string& folder) {
  const fs::path path(folder);
  if (is_there(path / kWholeName)) return open_file(path / kWholeName);
  if (is_there(path / kIndexName)) return open_shards(path);
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".safetensors") {
      names.push_back(entry->path().filename().string());
    }
  }
  if (names.size() == 1) return open_file(path / names.front());
  std::sort(names.begin(), names.end());
  return failure(ErrorCode::kNotFound, "{}: has {} safetensors files{}{} and no {}", folder,
                 names.size(), names.empty() ? "" : ", ", fmt::join(names, ", "), kIndexName);
}

}  // namespace tandem
