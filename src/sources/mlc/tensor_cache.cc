// The tensor table of an MLC model folder.

#include "sources/mlc/tensor_cache.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "sources/mlc/md5.h"

namespace tandem {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxDims = 8;
constexpr size_t kMaxNameBytes = 512;

/// The objects of an array member.
Result<std::vector<JsonConfig>> objects(const JsonConfig& config, const char* name) {
  const Json* list = config.find(name);
  if (list == nullptr || !list->is_array()) {
    return failure(ErrorCode::kCorruptFile, "{}: {} must be an array", config.source(), name);
  }
  std::vector<JsonConfig> out;
  for (const Json& item : *list) {
    TANDEM_TRY(
        auto object,
        JsonConfig::from_value(fmt::format("{}: {}[{}]", config.source(), name, out.size()), item));
    out.push_back(std::move(object));
  }
  return out;
}

Result<uint64_t> required_size(const JsonConfig& config, const char* name) {
  const Json* value = config.find(name);
  const auto size = value == nullptr ? std::nullopt : as_size(*value);
  if (size) return *size;
  return failure(ErrorCode::kCorruptFile, "{}: {} must be an integer, not negative",
                 config.source(), name);
}

Result<std::vector<uint64_t>> read_shape(const JsonConfig& record) {
  const Json* list = record.find("shape");
  std::vector<uint64_t> shape;
  bool valid = list != nullptr && list->is_array() && list->size() <= kMaxDims;
  if (valid) {
    for (const Json& dim : *list) {
      const auto size = as_size(dim);
      valid &= size.has_value();
      shape.push_back(size.value_or(0));
    }
  }
  if (valid) return shape;
  return failure(ErrorCode::kCorruptFile, "{}: shape must be at most {} integers, none negative",
                 record.source(), kMaxDims);
}

/// How the array's elements are stored, which is not always the type it has in use.
Result<StoredType> read_type(const JsonConfig& record) {
  TANDEM_TRY(const std::string name, record.required_string("dtype"));
  TANDEM_TRY(const std::string format, record.string_or("format", "raw"));
  const auto type = stored_type_from_numpy(name);
  if (!type) {
    return failure(ErrorCode::kUnsupported, "{}: dtype \"{}\" is not read", record.source(), name);
  }
  if (format == "raw") return *type;
  if (format == "f32-to-bf16") {
    return *type == StoredType::kF32 ? StoredType::kBF16 : *type;
  }
  return failure(ErrorCode::kUnsupported,
                 "{}: format \"{}\" is not known; known are raw, f32-to-bf16", record.source(),
                 format);
}

class CacheReader {
 public:
  CacheReader(const JsonConfig& cache, const ShardOpener& open_shard)
      : cache_(cache), open_shard_(open_shard) {}

  Result<std::vector<StoredTensor>> read() {
    TANDEM_TRY(const auto shards, objects(cache_, "records"));
    for (const JsonConfig& shard : shards) TANDEM_TRY(read_shard(shard));
    return std::move(tensors_);
  }

 private:
  Result<void> read_shard(const JsonConfig& shard) {
    TANDEM_TRY(const std::string path, shard.required_string("dataPath"));
    TANDEM_TRY(check_file_name(shard.source(), path));
    TANDEM_TRY(const std::string format, shard.string_or("format", "raw-shard"));
    if (format != "raw-shard") {
      return failure(ErrorCode::kUnsupported, "{}: format \"{}\" is not known, only raw-shard",
                     shard.source(), format);
    }
    TANDEM_TRY(const auto file, open_shard_(path));
    TANDEM_TRY(check_file(shard, *file));
    const size_t first = tensors_.size();
    TANDEM_TRY(const auto records, objects(shard, "records"));
    for (const JsonConfig& record : records) TANDEM_TRY(read_record(record, file));
    return check_overlap(first);
  }

  static Result<void> check_file(const JsonConfig& shard, const MappedFile& file) {
    TANDEM_TRY(const uint64_t n_bytes, required_size(shard, "nbytes"));
    if (n_bytes != file.bytes().size()) {
      return failure(ErrorCode::kCorruptFile, "{}: has {} bytes, {} says {}", file.path(),
                     file.bytes().size(), shard.source(), n_bytes);
    }
    TANDEM_TRY(const auto wanted, shard.string("md5sum"));
    if (!wanted) return {};
    const std::string found = md5_hex(file.bytes());
    file.drop_pages(file.bytes());
    if (found == *wanted) return {};
    return failure(ErrorCode::kCorruptFile, "{}: is damaged: its MD5 is {}, {} says {}",
                   file.path(), found, shard.source(), wanted->substr(0, 40));
  }

  Result<void> read_record(const JsonConfig& record,
                           const std::shared_ptr<const MappedFile>& file) {
    StoredTensor tensor;
    TANDEM_TRY(tensor.name, record.required_string("name"));
    if (tensor.name.empty() || tensor.name.size() > kMaxNameBytes) {
      return failure(ErrorCode::kCorruptFile, "{}: its name has {} bytes, must be 1 to {}",
                     record.source(), tensor.name.size(), kMaxNameBytes);
    }
    if (!names_.insert(tensor.name).second) {
      return failure(ErrorCode::kCorruptFile, "{}: array {} appears twice", record.source(),
                     tensor.name);
    }
    TANDEM_TRY(tensor.type, read_type(record));
    TANDEM_TRY(tensor.shape, read_shape(record));
    const auto size = stored_bytes(tensor.type, tensor.shape);
    if (!size) return tl::unexpected(size.error().within(record.source()));
    TANDEM_TRY(const uint64_t n_bytes, required_size(record, "nbytes"));
    TANDEM_TRY(const uint64_t offset, required_size(record, "byteOffset"));
    if (n_bytes != *size) {
      return failure(ErrorCode::kCorruptFile,
                     "{}: array {} takes {} bytes, its type and shape need {}", record.source(),
                     tensor.name, n_bytes, *size);
    }
    const auto bytes = file->bytes();
    if (offset > bytes.size() || n_bytes > bytes.size() - offset) {
      return failure(ErrorCode::kCorruptFile,
                     "{}: array {} takes {} bytes from byte {}, but the shard has {}",
                     record.source(), tensor.name, n_bytes, offset, bytes.size());
    }
    tensor.bytes = bytes.subspan(offset, n_bytes);
    tensor.file = file;
    tensors_.push_back(std::move(tensor));
    return {};
  }

  Result<void> check_overlap(size_t first) const {
    std::vector<const StoredTensor*> order;
    for (size_t i = first; i < tensors_.size(); ++i) order.push_back(&tensors_[i]);
    std::sort(order.begin(), order.end(), [](const StoredTensor* a, const StoredTensor* b) {
      return a->bytes.data() < b->bytes.data();
    });
    for (size_t i = 1; i < order.size(); ++i) {
      const StoredTensor& before = *order[i - 1];
      if (before.bytes.data() + before.bytes.size() <= order[i]->bytes.data()) continue;
      return failure(ErrorCode::kCorruptFile, "{}: arrays {} and {} overlap", cache_.source(),
                     before.name, order[i]->name);
    }
    return {};
  }

  const JsonConfig& cache_;
  const ShardOpener& open_shard_;
  std::unordered_set<std::string> names_;
  std::vector<StoredTensor> tensors_;
};

/// Names of shard files that are not there.
std::vector<std::string> missing_shards(const JsonConfig& cache, const std::string& folder) {
  std::vector<std::string> missing;
  const Json* list = cache.find("records");
  if (list == nullptr || !list->is_array()) return missing;
  for (const Json& shard : *list) {
    const bool named =
        shard.is_object() && shard.contains("dataPath") && shard["dataPath"].is_string();
    if (!named) continue;
    const auto name = shard["dataPath"].get<std::string>();
    std::error_code error;
    const bool is_plain = check_file_name("", name).has_value();
    if (is_plain && !std::filesystem::exists(folder + "/" + name, error)) missing.push_back(name);
  }
  return missing;
}

}  // namespace

Result<std::vector<StoredTensor>> read_tensor_cache(const JsonConfig& cache,
                                                    const ShardOpener& open_shard) {
  return CacheReader(cache, open_shard).read();
}

Result<std::vector<StoredTensor>> open_tensor_cache(const std::string& folder) {
  std::error_code error;
  const std::string new_name = folder + "/tensor-cache.json";
  const std::string old_name = folder + "/ndarray-cache.json";
  const bool has_new = std::filesystem::exists(new_name, error);
  if (!has_new && !std::filesystem::exists(old_name, error)) {
    return failure(ErrorCode::kNotFound, "{}: has neither tensor-cache.json nor ndarray-cache.json",
                   folder);
  }
  TANDEM_TRY(const JsonConfig cache, JsonConfig::load(has_new ? new_name : old_name));
  const auto missing = missing_shards(cache, folder);
  if (!missing.empty()) {
    return failure(ErrorCode::kNotFound, "{}: {} shards are missing: {}", cache.source(),
                   missing.size(), fmt::join(missing, ", "));
  }
  return read_tensor_cache(
      cache, [&](const std::string& name) { return MappedFile::open(folder + "/" + name); });
}

}  // namespace tandem
