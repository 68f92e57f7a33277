// Finds and checks the section that holds low planes.

#include "formats/nested_section.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>

#include "base/hash.h"
#include "formats/gguf_cursor.h"
#include "formats/gguf_format.h"

namespace tandem {
namespace {

/// An entry with a name of one byte.
constexpr uint64_t kMinEntryBytes = 8 + 1 + 4 + 4 + 8 + 8 + 8;

struct Header {
  uint32_t n_tensors;
  uint64_t checksum;
};

Result<Header> read_header(GgufCursor& cursor) {
  TANDEM_TRY(const auto magic, cursor.take(kNestedMagic.size(), "magic"));
  if (!std::ranges::equal(magic, std::as_bytes(std::span(kNestedMagic)))) {
    return cursor.fail(ErrorCode::kCorruptFile, "it does not start with '{}'", kNestedMagic);
  }
  TANDEM_TRY(const uint32_t version, cursor.number<uint32_t>("version"));
  if (version != kNestedVersion) {
    return cursor.fail(ErrorCode::kUnsupported, "version {} is unsupported, known is {}", version,
                       kNestedVersion);
  }
  Header header{};
  TANDEM_TRY(header.n_tensors, cursor.number<uint32_t>("number of tensors"));
  TANDEM_TRY(const uint64_t length, cursor.number<uint64_t>("length"));
  if (length != cursor.size()) {
    return cursor.fail(ErrorCode::kCorruptFile, "its length is {}, but it has {} bytes", length,
                       cursor.size());
  }
  TANDEM_TRY(header.checksum, cursor.number<uint64_t>("checksum"));
  TANDEM_TRY(cursor.check_count(header.n_tensors, kMinEntryBytes, "number of tensors"));
  return header;
}

Result<LowPlaneEntry> read_entry(GgufCursor& cursor) {
  LowPlaneEntry entry;
  TANDEM_TRY(const std::string_view name, cursor.string("name"));
  const std::string problem = gguf_name_problem(name, kGgufMaxTensorNameBytes);
  if (!problem.empty()) return cursor.fail(ErrorCode::kCorruptFile, "{}", problem);
  entry.name = name;
  TANDEM_TRY(entry.shift, cursor.number<uint32_t>("e"));
  TANDEM_TRY(const uint32_t reserved, cursor.number<uint32_t>("reserved field"));
  TANDEM_TRY(entry.offset, cursor.number<uint64_t>("offset"));
  TANDEM_TRY(entry.n_bytes, cursor.number<uint64_t>("size"));
  TANDEM_TRY(entry.checksum, cursor.number<uint64_t>("checksum"));
  if (entry.shift < kNestedMinShift || entry.shift > kNestedMaxShift || reserved != 0) {
    return cursor.fail(
        ErrorCode::kUnsupported,
        "tensor '{}' has e = {} and reserved field {}, known are e of {} and {} with 0", entry.name,
        entry.shift, reserved, kNestedMinShift, kNestedMaxShift);
  }
  return entry;
}

/// Planes lie behind the table, in its order, without overlap.
Result<void> check_places(const GgufCursor& cursor, const std::vector<LowPlaneEntry>& entries) {
  uint64_t free_from = cursor.offset();
  std::unordered_set<std::string_view> names;
  for (const LowPlaneEntry& e : entries) {
    if (!names.insert(e.name).second) {
      return cursor.fail(ErrorCode::kCorruptFile, "two low planes belong to tensor '{}'", e.name);
    }
    const bool fits = e.offset >= free_from && e.offset % kNestedAlignment == 0 &&
                      e.offset <= cursor.size() && e.n_bytes <= cursor.size() - e.offset;
    if (!fits) {
      return cursor.fail(
          ErrorCode::kCorruptFile,
          "the {} bytes of tensor '{}' at offset {} overlap others, are misaligned or "
          "leave the section of {} bytes",
          e.n_bytes, e.name, e.offset, cursor.size());
    }
    free_from = e.offset + e.n_bytes;
  }
  return {};
}

/// Where the section is, or why it cannot be found.
struct FoundSection {
  std::shared_ptr<const MappedFile> file;
  std::span<const std::byte> bytes;
};

Result<uint64_t> length_of(const Metadata& metadata) {
  const MetadataValue* value = metadata.find(kNestedBytesKey);
  if (const auto* n = value == nullptr ? nullptr : std::get_if<uint64_t>(value)) return *n;
  return failure(ErrorCode::kCorruptFile, "{}: key '{}' is missing or no u64", metadata.source(),
                 kNestedBytesKey);
}

Result<FoundSection> find_sidecar(const ModelFile& model, const std::string& name) {
  const std::filesystem::path file_name(name);
  if (name.empty() || file_name.filename() != file_name) {
    return failure(ErrorCode::kCorruptFile, "{}: key '{}' is '{}', must be the name of a file",
                   model.metadata.source(), kNestedSidecarKey, name);
  }
  const auto path = std::filesystem::path(model.files[0]->path()).replace_filename(file_name);
  auto file = MappedFile::open(path.string());
  if (!file) return tl::unexpected(file.error().within("the low planes are missing"));
  return FoundSection{*file, (*file)->bytes()};
}

Result<FoundSection> find_behind_tensors(const ModelFile& model, uint64_t n_bytes) {
  const std::shared_ptr<const MappedFile>& file = model.files[0];
  TANDEM_TRY(const uint32_t alignment,
             model.metadata.u32_or(kGgufAlignmentKey, kGgufDefaultAlignment));
  const std::byte* end = file->bytes().data();
  for (const TensorView& t : model.tensors) {
    if (t.file == 0) end = std::max(end, t.bytes.data() + t.bytes.size());
  }
  const uint64_t start = gguf_align_up(end - file->bytes().data(), alignment);
  const uint64_t size = file->bytes().size();
  if (model.files.size() > 1 || start > size || n_bytes > size - start) {
    return failure(
        ErrorCode::kCorruptFile,
        "{}: the keys describe {} bytes of low planes from byte {}, but the file ends at "
        "byte {}: a tool that rewrites GGUF files may have dropped them",
        file->path(), n_bytes, start, size);
  }
  return FoundSection{file, file->bytes().subspan(start, n_bytes)};
}

Result<void> attach(TensorView& tensor, const LowPlaneEntry& entry, const FoundSection& section) {
  const uint64_t columns = tensor.dims[0];
  const uint64_t rows = tensor.n_elements() / columns;
  if (tensor.type != DType::kQ4_0 || entry.n_bytes != rows * low_row_bytes(columns)) {
    return failure(ErrorCode::kCorruptFile,
                   "{}: tensor '{}' is {} {} and has {} bytes of low plane, expected Q4_0 and {}",
                   section.file->path(), tensor.name, name(tensor.type), tensor.shape_text(),
                   entry.n_bytes, rows * low_row_bytes(columns));
  }
  auto nested = std::make_shared<NestedTensor>();
  nested->name = fmt::format("{}: tensor '{}'", section.file->path(), tensor.name);
  nested->rows = rows;
  nested->columns = columns;
  nested->high = tensor.bytes;
  nested->low = section.bytes.subspan(entry.offset, entry.n_bytes);
  nested->shift = entry.shift;
  nested->checksum = entry.checksum;
  nested->low_file = section.file;
  tensor.nested = std::move(nested);
  return {};
}

Result<void> find_and_attach(ModelFile& model) {
  const Metadata& metadata = model.metadata;
  TANDEM_TRY(const uint32_t version, metadata.u32(kNestedVersionKey));
  if (version != kNestedVersion) {
    return failure(ErrorCode::kUnsupported, "{}: key '{}' is {}, known is {}", metadata.source(),
                   kNestedVersionKey, version, kNestedVersion);
  }
  TANDEM_TRY(const std::string sidecar, metadata.string_or(kNestedSidecarKey, ""));
  TANDEM_TRY(const uint64_t n_bytes, length_of(metadata));
  TANDEM_TRY(const FoundSection section, metadata.contains(kNestedSidecarKey)
                                             ? find_sidecar(model, sidecar)
                                             : find_behind_tensors(model, n_bytes));
  TANDEM_TRY(const auto entries, parse_nested_section(section.file->path(), section.bytes));
  TANDEM_TRY(const uint32_t n_tensors, metadata.u32(kNestedTensorsKey));
  if (section.bytes.size() != n_bytes || entries.size() != n_tensors) {
    return failure(ErrorCode::kCorruptFile,
                   "{}: low planes of {} tensors in {} bytes, the keys say {} and {}",
                   section.file->path(), entries.size(), section.bytes.size(), n_tensors, n_bytes);
  }
  std::unordered_map<std::string_view, TensorView*> by_name;
  for (TensorView& t : model.tensors) by_name.emplace(t.name, &t);
  for (const LowPlaneEntry& entry : entries) {
    const auto found = by_name.find(entry.name);
    if (found == by_name.end()) {
      return failure(ErrorCode::kCorruptFile,
                     "{}: a low plane belongs to tensor '{}', which is missing",
                     section.file->path(), entry.name);
    }
    TANDEM_TRY(attach(*found->second, entry, section));
  }
  return {};
}

}  // namespace

Result<std::vector<LowPlaneEntry>> parse_nested_section(std::string_view source,
                                                        std::span<const std::byte> section) {
  GgufCursor cursor(source, section);
  cursor.set_subject("low planes");
  TANDEM_TRY(const Header header, read_header(cursor));
  std::vector<LowPlaneEntry> entries(header.n_tensors);
  for (LowPlaneEntry& entry : entries) {
    TANDEM_TRY(entry, read_entry(cursor));
  }
  const auto table = section.subspan(kNestedHeaderBytes, cursor.offset() - kNestedHeaderBytes);
  const uint64_t checksum =
      content_hash(table, content_hash(section.first(kNestedHeaderBytes - sizeof(uint64_t))));
  if (checksum != header.checksum) {
    return cursor.fail(ErrorCode::kCorruptFile,
                       "the checksum of its table is {:016x}, expected {:016x}", checksum,
                       header.checksum);
  }
  TANDEM_TRY(check_places(cursor, entries));
  return entries;
}

bool describes_low_planes(const Metadata& metadata) { return metadata.contains(kNestedVersionKey); }

Result<void> attach_low_planes(ModelFile& file, MissingPlanes missing) {
  if (!describes_low_planes(file.metadata)) return {};
  const auto outcome = find_and_attach(file);
  if (outcome) return {};
  for (TensorView& t : file.tensors) t.nested = nullptr;
  if (missing == MissingPlanes::kAccept) return {};
  return failure(
      outcome.error().code,
      "{}; INT8 is not possible: run it at INT4 (--precision int4 or --accept-int4), or add "
      "the planes again (tandem convert --add-refinement)",
      outcome.error().message);
}

}  // namespace tandem
