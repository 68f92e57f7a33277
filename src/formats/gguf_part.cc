// One GGUF file from its magic to its last tensor: nothing is used before it has been checked.

#include "formats/gguf_part.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "formats/gguf_cursor.h"
#include "formats/gguf_format.h"
#include "formats/gguf_metadata.h"

namespace tandem {
namespace {

/// A tensor with a name of one byte and one dimension.
constexpr uint64_t kMinTensorInfoBytes = 8 + 1 + 4 + 8 + 4 + 8;

struct Header {
  uint32_t version;
  uint64_t n_tensors;
  uint64_t n_pairs;
};

struct TensorInfo {
  TensorView view;  ///< without bytes
  uint64_t offset;  ///< from the start of the data section
  uint64_t n_bytes;
};

struct KnownStart {
  std::string_view bytes;
  std::string_view meaning;
};

/// What people hand over instead of a GGUF file.
constexpr std::array kKnownStarts{
    KnownStart{"version https://git-lfs", "a Git LFS pointer; the file itself was not downloaded"},
    KnownStart{"<", "a web page or XML; the download went wrong"},
    KnownStart{"PK\x03\x04", "a ZIP archive or PyTorch checkpoint"},
    KnownStart{"tjgg", "a GGJT file, the format before GGUF"},
    KnownStart{"lmgg", "a GGML file, the format before GGUF"},
    KnownStart{"fmgg", "a GGMF file, the format before GGUF"},
    KnownStart{std::string_view("\0\0\0\0", 4), "a run of zeros; the download did not finish"},
};

tl::unexpected<Error> not_gguf(const MappedFile& file, std::string_view text) {
  if (text.starts_with("FUGG")) {
    return failure(ErrorCode::kUnsupported,
                   "{}: a GGUF file of the opposite byte order (it starts with 'FUGG'), which is "
                   "unsupported",
                   file.path());
  }
  for (const KnownStart& start : kKnownStarts) {
    if (text.starts_with(start.bytes)) {
      return failure(ErrorCode::kCorruptFile, "{}: not a GGUF file: it looks like {}", file.path(),
                     start.meaning);
    }
  }
  std::string found;
  for (const char c : text.substr(0, kGgufMagic.size())) {
    found += fmt::format(" {:02x}", static_cast<uint8_t>(c));
  }
  return failure(ErrorCode::kCorruptFile,
                 "{}: not a GGUF file: it starts with{} instead of 'GGUF' (47 47 55 46)",
                 file.path(), found);
}

Result<void> check_version(const GgufCursor& cursor, uint32_t version) {
  if (version >= kGgufOldestVersion && version <= kGgufNewestVersion) return {};
  // No version will ever need more than 16 bits; in the wrong byte order all of them do.
  if ((version & 0xffff) == 0 && version != 0) {
    return cursor.fail(ErrorCode::kUnsupported,
                       "the file has the opposite byte order (big-endian, version {}), which is "
                       "unsupported",
                       __builtin_bswap32(version));
  }
  return cursor.fail(ErrorCode::kUnsupported, "GGUF version {} is unsupported, known are {} to {}",
                     version, kGgufOldestVersion, kGgufNewestVersion);
}

Result<Header> read_header(GgufCursor& cursor, const MappedFile& file) {
  const auto bytes = file.bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kGgufMagic)) return not_gguf(file, text);
  TANDEM_TRY(cursor.take(kGgufMagic.size(), "magic"));
  Header header{};
  TANDEM_TRY(header.version, cursor.number<uint32_t>("version"));
  TANDEM_TRY(check_version(cursor, header.version));
  TANDEM_TRY(header.n_tensors, cursor.count(kMinTensorInfoBytes, "number of tensors"));
  TANDEM_TRY(header.n_pairs, cursor.count(kGgufMinPairBytes, "number of keys"));
  return header;
}

Result<uint32_t> read_alignment(const Metadata& metadata) {
  TANDEM_TRY(const uint32_t alignment, metadata.u32_or(kGgufAlignmentKey, kGgufDefaultAlignment));
  const std::string problem = gguf_alignment_problem(alignment);
  if (problem.empty()) return alignment;
  return failure(ErrorCode::kCorruptFile, "{}: {}", metadata.source(), problem);
}

Result<std::string> read_tensor_name(GgufCursor& cursor) {
  const uint64_t offset = cursor.offset();
  TANDEM_TRY(const std::string_view name, cursor.string("name"));
  const std::string problem = gguf_name_problem(name, kGgufMaxTensorNameBytes);
  if (problem.empty()) return std::string(name);
  return cursor.fail(ErrorCode::kCorruptFile, "at byte {}: {}", offset, problem);
}

Result<std::vector<uint64_t>> read_dims(GgufCursor& cursor) {
  TANDEM_TRY(const uint32_t n_dims, cursor.number<uint32_t>("number of dimensions"));
  if (n_dims < 1 || n_dims > kGgufMaxDims) {
    return cursor.fail(ErrorCode::kCorruptFile, "it has {} dimensions, allowed are 1 to {}", n_dims,
                       kGgufMaxDims);
  }
  std::vector<uint64_t> dims(n_dims);
  for (uint64_t& dim : dims) {
    TANDEM_TRY(dim, cursor.number<uint64_t>("dimension"));
  }
  return dims;
}

Result<DType> read_tensor_type(GgufCursor& cursor) {
  TANDEM_TRY(const uint32_t number, cursor.number<uint32_t>("type"));
  if (const auto type = dtype_from_gguf(number)) return *type;
  return cursor.fail(ErrorCode::kUnsupported, "its type number {} is {}", number,
                     gguf_foreign_type(number));
}

Result<TensorInfo> read_tensor_info(GgufCursor& cursor, uint32_t alignment) {
  TensorInfo tensor{};
  TANDEM_TRY(tensor.view.name, read_tensor_name(cursor));
  cursor.set_subject(fmt::format("tensor '{}'", tensor.view.name));
  TANDEM_TRY(tensor.view.dims, read_dims(cursor));
  TANDEM_TRY(tensor.view.type, read_tensor_type(cursor));
  TANDEM_TRY(tensor.offset, cursor.number<uint64_t>("offset"));

  const GgufTensorSize size = gguf_tensor_size(tensor.view.type, tensor.view.dims);
  if (!size.problem.empty()) return cursor.fail(ErrorCode::kCorruptFile, "{}", size.problem);
  tensor.n_bytes = size.n_bytes;
  if (tensor.offset % alignment != 0) {
    return cursor.fail(ErrorCode::kCorruptFile,
                       "its offset {} is not a multiple of the alignment {}", tensor.offset,
                       alignment);
  }
  return tensor;
}

Result<std::vector<TensorInfo>> read_tensor_infos(GgufCursor& cursor, uint64_t n_tensors,
                                                  uint32_t alignment) {
  std::vector<TensorInfo> tensors;
  tensors.reserve(n_tensors);
  std::unordered_set<std::string> names;
  for (uint64_t i = 0; i < n_tensors; ++i) {
    cursor.set_subject(fmt::format("tensor {} of {}", i + 1, n_tensors));
    TANDEM_TRY(TensorInfo tensor, read_tensor_info(cursor, alignment));
    if (!names.insert(tensor.view.name).second) {
      return cursor.fail(ErrorCode::kCorruptFile, "two tensors have this name");
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

/// Gives every tensor its bytes. `data_start` may lie behind the end of the file.
Result<void> locate_tensors(const MappedFile& file, uint64_t data_start,
                            std::vector<TensorInfo>& tensors) {
  const auto bytes = file.bytes();
  const uint64_t available = bytes.size() - std::min<uint64_t>(data_start, bytes.size());
  for (TensorInfo& tensor : tensors) {
    // Compared without a sum, which could wrap.
    if (tensor.offset > available || tensor.n_bytes > available - tensor.offset) {
      const __uint128_t end = __uint128_t{data_start} + tensor.offset + tensor.n_bytes;
      return failure(ErrorCode::kCorruptFile,
                     "{}: tensor '{}': its {} bytes end at byte {}, but the file has only {} bytes "
                     "(cut short?)",
                     file.path(), tensor.view.name, tensor.n_bytes, end, bytes.size());
    }
    tensor.view.bytes = bytes.subspan(data_start + tensor.offset, tensor.n_bytes);
  }
  return {};
}

/// Two tensors that share bytes are a damaged offset: no tool writes such files.
Result<void> check_overlaps(const MappedFile& file, const std::vector<TensorInfo>& tensors) {
  std::vector<const TensorInfo*> by_offset;
  by_offset.reserve(tensors.size());
  for (const TensorInfo& tensor : tensors) by_offset.push_back(&tensor);
  std::sort(by_offset.begin(), by_offset.end(),
            [](const auto* a, const auto* b) { return a->offset < b->offset; });
  for (size_t i = 1; i < by_offset.size(); ++i) {
    const TensorInfo& before = *by_offset[i - 1];
    const TensorInfo& after = *by_offset[i];
    if (before.offset + before.n_bytes <= after.offset) continue;
    return failure(ErrorCode::kCorruptFile,
                   "{}: tensor '{}' at offset {} overlaps tensor '{}' at offset {} with {} bytes",
                   file.path(), after.view.name, after.offset, before.view.name, before.offset,
                   before.n_bytes);
  }
  return {};
}

}  // namespace

Result<GgufPart> parse_gguf_part(std::shared_ptr<const MappedFile> file) {
  GgufCursor cursor(file->path(), file->bytes());
  TANDEM_TRY(const Header header, read_header(cursor, *file));
  GgufPart part;
  part.version = header.version;
  TANDEM_TRY(part.metadata, read_gguf_metadata(cursor, header.n_pairs, file->path()));
  TANDEM_TRY(part.alignment, read_alignment(part.metadata));
  // The count was checked against the whole file; the keys have used some of it.
  cursor.set_subject("header");
  TANDEM_TRY(cursor.check_count(header.n_tensors, kMinTensorInfoBytes, "number of tensors"));
  TANDEM_TRY(auto tensors, read_tensor_infos(cursor, header.n_tensors, part.alignment));

  const uint64_t data_start = gguf_align_up(cursor.offset(), part.alignment);
  TANDEM_TRY(locate_tensors(*file, data_start, tensors));
  TANDEM_TRY(check_overlaps(*file, tensors));
  part.data_end = cursor.offset();
  part.tensors.reserve(tensors.size());
  for (TensorInfo& tensor : tensors) {
    part.data_end = std::max(part.data_end, data_start + tensor.offset + tensor.n_bytes);
    part.tensors.push_back(std::move(tensor.view));
  }
  part.file = std::move(file);
  return part;
}

}  // namespace tandem
