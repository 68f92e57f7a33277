// Models split over several files: recognising parts and finding the rest.

#include "formats/gguf_split.h"

#include <filesystem>
#include <string>
#include <unordered_map>
#include <utility>

#include "formats/gguf_format.h"

namespace tandem {
namespace {

constexpr std::string_view kNumberKey = "split.no";
constexpr std::string_view kCountKey = "split.count";
constexpr std::string_view kTensorsKey = "split.tensors.count";
/// split.count is a u16, and a name has room for five digits.
constexpr uint32_t kMaxParts = 65535;
constexpr size_t kMaxNamedFiles = 5;

/// Where another GGUF file starts behind the last tensor, as `cat` leaves it. Tools pad the last
/// tensor or do not.
std::optional<uint64_t> second_file_at(const GgufPart& part) {
  const auto bytes = part.file->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const uint64_t at : {part.data_end, gguf_align_up(part.data_end, part.alignment)}) {
    if (at < text.size() && text.substr(at).starts_with(kGgufMagic)) return at;
  }
  return std::nullopt;
}

std::optional<uint32_t> five_digits(std::string_view text) {
  uint32_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<uint32_t>(c - '0');
  }
  return number;
}

Result<GgufPartName> check_name(const GgufPart& part, const GgufSplit& split) {
  const std::string& path = part.file->path();
  const auto name = GgufPartName::parse(path);
  if (name && name->number == split.number && name->count == split.count) return *name;
  return failure(ErrorCode::kCorruptFile,
                 "{}: this is part {} of {} of a split model, and the others are found by name; "
                 "the name must end in -{:05}-of-{:05}.gguf",
                 path, split.number + 1, split.count, split.number + 1, split.count);
}

Result<void> check_all_exist(const GgufPartName& name) {
  size_t n_missing = 0;
  std::string missing;
  for (uint32_t i = 0; i < name.count; ++i) {
    const std::string path = name.path_of(i);
    std::error_code ignored;  // an unreadable folder shows up when the part is opened
    if (std::filesystem::exists(path, ignored)) continue;
    if (++n_missing <= kMaxNamedFiles) missing += (n_missing > 1 ? ", " : "") + path;
  }
  if (n_missing == 0) return {};
  if (n_missing > kMaxNamedFiles) missing += ", ...";
  return failure(ErrorCode::kNotFound, "{}: {} of the model's {} parts {} missing: {}",
                 name.path_of(name.number), n_missing, name.count, n_missing == 1 ? "is" : "are",
                 missing);
}

Result<GgufPart> open_sibling(const std::string& path, uint32_t number, const GgufSplit& of) {
  TANDEM_TRY(auto file, MappedFile::open(path));
  TANDEM_TRY(GgufPart part, parse_gguf_part(std::move(file)));
  TANDEM_TRY(const auto split, read_gguf_split(part));
  const GgufSplit found = split.value_or(GgufSplit{});
  if (found.number == number && found.count == of.count && found.n_tensors == of.n_tensors) {
    return part;
  }
  return failure(ErrorCode::kCorruptFile,
                 "{}: {}, {}, {} are {}, {}, {}, but the other parts call for {}, {}, {}; is it "
                 "from another model?",
                 path, kNumberKey, kCountKey, kTensorsKey, found.number, found.count,
                 found.n_tensors, number, of.count, of.n_tensors);
}

Result<void> check_tensors(const std::vector<GgufPart>& parts, const GgufSplit& split) {
  std::unordered_map<std::string_view, const GgufPart*> owners;
  for (const GgufPart& part : parts) {
    for (const TensorView& tensor : part.tensors) {
      const auto [first, is_new] = owners.emplace(tensor.name, &part);
      if (is_new) continue;
      return failure(ErrorCode::kCorruptFile, "{}: tensor '{}' is also in {}", part.file->path(),
                     tensor.name, first->second->file->path());
    }
  }
  if (owners.size() == split.n_tensors) return {};
  return failure(ErrorCode::kCorruptFile, "{}: {} says {} tensors, but the {} parts hold {}",
                 parts.front().file->path(), kTensorsKey, split.n_tensors, split.count,
                 owners.size());
}

}  // namespace

Result<std::optional<GgufSplit>> read_gguf_split(const GgufPart& part) {
  const Metadata& metadata = part.metadata;
  GgufSplit split;
  TANDEM_TRY(split.count, metadata.u32_or(kCountKey, 1));
  // Merging tools leave 0 behind.
  if (split.count <= 1) return std::nullopt;
  if (split.count > kMaxParts) {
    return failure(ErrorCode::kCorruptFile, "{}: key '{}' is {}, the limit is {}",
                   metadata.source(), kCountKey, split.count, kMaxParts);
  }
  TANDEM_TRY(split.number, metadata.u32(kNumberKey));
  TANDEM_TRY(split.n_tensors, metadata.u32(kTensorsKey));
  if (split.number >= split.count) {
    return failure(ErrorCode::kCorruptFile, "{}: key '{}' is {}, but there are {} parts",
                   metadata.source(), kNumberKey, split.number, split.count);
  }
  if (const auto at = second_file_at(part)) {
    return failure(ErrorCode::kCorruptFile,
                   "{}: the file is a concatenation of split parts: part {} of {} ends at byte {} "
                   "and another GGUF file follows; keep the parts as separate files named "
                   "...-00001-of-{:05}.gguf and so on",
                   metadata.source(), split.number + 1, split.count, *at, split.count);
  }
  return split;
}

std::optional<GgufPartName> GgufPartName::parse(std::string_view path) {
  constexpr std::string_view kPattern = "-00000-of-00000.gguf";
  if (path.size() < kPattern.size()) return std::nullopt;
  const std::string_view tail = path.substr(path.size() - kPattern.size());
  const auto number = five_digits(tail.substr(1, 5));
  const auto count = five_digits(tail.substr(10, 5));
  const bool matches = tail[0] == '-' && tail.substr(6, 4) == "-of-" && tail.substr(15) == ".gguf";
  if (!matches || !number || !count || *number < 1 || *number > *count) return std::nullopt;
  return GgufPartName{std::string(path.substr(0, path.size() - kPattern.size())), *number - 1,
                      *count};
}

std::string GgufPartName::path_of(uint32_t part) const {
  return fmt::format("{}-{:05}-of-{:05}.gguf", prefix, part + 1, count);
}

Result<std::vector<GgufPart>> open_gguf_siblings(GgufPart opened, const GgufSplit& split) {
  TANDEM_TRY(const GgufPartName name, check_name(opened, split));
  TANDEM_TRY(check_all_exist(name));
  std::vector<GgufPart> parts;
  parts.reserve(split.count);
  for (uint32_t i = 0; i < split.count; ++i) {
    if (i == split.number) {
      parts.push_back(std::move(opened));
      continue;
    }
    TANDEM_TRY(GgufPart part, open_sibling(name.path_of(i), i, split));
    parts.push_back(std::move(part));
  }
  TANDEM_TRY(check_tensors(parts, split));
  return parts;
}

}  // namespace tandem
