// One safetensors file from its header's length to the last byte of data.

#include "sources/safetensors/safetensors.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_set>
#include <utility>

#include "text/tokenizer/json_reader.h"
#include "text/unicode/utf8.h"

namespace tandem {
namespace {

constexpr uint64_t kLengthBytes = 8;
/// The reference implementation's limit.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;
constexpr size_t kMaxNameBytes = 512;
constexpr size_t kMaxDims = 8;

/// One entry of the header.
struct Entry {
  std::string name;
  std::string type;
  std::vector<uint64_t> shape;
  std::vector<uint64_t> offsets;
};

class HeaderReader {
 public:
  explicit HeaderReader(std::string_view json) : reader_(json) {}

  Result<std::vector<Entry>> read() {
    TANDEM_TRY(reader_.expect('{'));
    std::vector<Entry> entries;
    bool first = true;
    while (true) {
      TANDEM_TRY(const bool more, reader_.next_item('}', first));
      if (!more) break;
      std::string name;
      TANDEM_TRY(reader_.string(name));
      TANDEM_TRY(check_name(name));
      TANDEM_TRY(reader_.expect(':'));
      if (name == "__metadata__") {
        TANDEM_TRY(skip_metadata());
        continue;
      }
      TANDEM_TRY(Entry entry, read_entry(std::move(name)));
      entries.push_back(std::move(entry));
    }
    TANDEM_TRY(reader_.expect_end());
    return entries;
  }

 private:
  Result<void> check_name(const std::string& name) {
    if (name.empty() || name.size() > kMaxNameBytes || !is_valid_utf8(name)) {
      return failure(ErrorCode::kCorruptFile,
                     "a tensor's name has {} bytes, must be 1 to {} of UTF-8", name.size(),
                     kMaxNameBytes);
    }
    if (names_.insert(name).second) return {};
    return failure(ErrorCode::kCorruptFile, "tensor {} appears twice", name);
  }

  /// Strings only; what they say does not concern us.
  Result<void> skip_metadata() {
    TANDEM_TRY(reader_.expect('{'));
    bool first = true;
    std::string text;
    while (true) {
      TANDEM_TRY(const bool more, reader_.next_item('}', first));
      if (!more) return {};
      TANDEM_TRY(reader_.string(text));
      TANDEM_TRY(reader_.expect(':'));
      TANDEM_TRY(reader_.string(text));
    }
  }

  Result<Entry> read_entry(std::string name) {
    Entry entry;
    entry.name = std::move(name);
    TANDEM_TRY(reader_.expect('{'));
    bool first = true;
    unsigned seen = 0;
    std::string key;
    while (true) {
      TANDEM_TRY(const bool more, reader_.next_item('}', first));
      if (!more) break;
      TANDEM_TRY(reader_.string(key));
      TANDEM_TRY(reader_.expect(':'));
      TANDEM_TRY(const unsigned field, read_field(key, entry));
      if ((seen & field) != 0) {
        return failure(ErrorCode::kCorruptFile, "tensor {} states {} twice", entry.name, key);
      }
      seen |= field;
    }
    if (seen == 7) return entry;
    return failure(ErrorCode::kCorruptFile,
                   "tensor {} must state dtype, shape and data_offsets and states {} of them",
                   entry.name, __builtin_popcount(seen));
  }

  /// A bit for each field, so that none is missing or repeated.
  Result<unsigned> read_field(const std::string& key, Entry& entry) {
    if (key == "dtype") {
      TANDEM_TRY(reader_.string(entry.type));
      return 1u;
    }
    if (key == "shape") {
      TANDEM_TRY(read_sizes(entry.name, "shape", kMaxDims, entry.shape));
      return 2u;
    }
    if (key == "data_offsets") {
      TANDEM_TRY(read_sizes(entry.name, "data_offsets", 2, entry.offsets));
      if (entry.offsets.size() == 2) return 4u;
      return failure(ErrorCode::kCorruptFile, "tensor {}: data_offsets has {} numbers, must have 2",
                     entry.name, entry.offsets.size());
    }
    return failure(ErrorCode::kCorruptFile, "tensor {} has the unknown field \"{}\"", entry.name,
                   key);
  }

  Result<void> read_sizes(const std::string& name, std::string_view field, size_t limit,
                          std::vector<uint64_t>& out) {
    TANDEM_TRY(reader_.expect('['));
    bool first = true;
    while (true) {
      TANDEM_TRY(const bool more, reader_.next_item(']', first));
      if (!more) return {};
      TANDEM_TRY(const int64_t value, reader_.integer());
      if (value < 0 || out.size() == limit) {
        return failure(ErrorCode::kCorruptFile,
                       "tensor {}: {} must be at most {} numbers, none negative", name, field,
                       limit);
      }
      out.push_back(static_cast<uint64_t>(value));
    }
  }

  JsonReader reader_;
  std::unordered_set<std::string> names_;
};

/// The header's text, or why there is none.
Result<std::string_view> header_text(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("version https://git-lfs")) {
    return failure(ErrorCode::kCorruptFile,
                   "a Git LFS pointer, not the model; fetch it with git lfs pull");
  }
  if (text.size() < kLengthBytes) {
    return failure(ErrorCode::kCorruptFile, "has {} bytes, too few for a safetensors header",
                   text.size());
  }
  uint64_t length = 0;
  std::memcpy(&length, text.data(), sizeof length);
  const uint64_t limit = std::min<uint64_t>(kMaxHeaderBytes, text.size() - kLengthBytes);
  if (length > limit) {
    return failure(ErrorCode::kCorruptFile,
                   "no safetensors file, or cut short: its header would have {} bytes, limit {}",
                   length, limit);
  }
  return text.substr(kLengthBytes, length);
}

Result<StoredTensor> checked_tensor(Entry entry, std::span<const std::byte> data,
                                    uint64_t expected_begin) {
  const auto type = stored_type_from_safetensors(entry.type);
  if (!type) {
    return failure(ErrorCode::kUnsupported, "tensor {} has the type {}, which we do not read",
                   entry.name, entry.type.substr(0, 40));
  }
  const auto size = stored_bytes(*type, entry.shape);
  if (!size) return tl::unexpected(size.error().within("tensor " + entry.name));
  const uint64_t begin = entry.offsets[0];
  const uint64_t end = entry.offsets[1];
  if (begin > end || end > data.size()) {
    return failure(ErrorCode::kCorruptFile,
                   "tensor {} lies at data bytes {} to {}, but there are {} bytes of data",
                   entry.name, begin, end, data.size());
  }
  if (end - begin != *size) {
    return failure(ErrorCode::kCorruptFile, "tensor {} takes {} bytes, its type and shape need {}",
                   entry.name, end - begin, *size);
  }
  if (begin != expected_begin) {
    return failure(ErrorCode::kCorruptFile,
                   "tensor {} begins at data byte {}, but the one before it ends at {}", entry.name,
                   begin, expected_begin);
  }
  return StoredTensor{.name = std::move(entry.name),
                      .type = *type,
                      .shape = std::move(entry.shape),
                      .bytes = data.subspan(begin, end - begin),
                      .file = {}};
}

Result<std::vector<StoredTensor>> read_tensors(std::span<const std::byte> bytes) {
  TANDEM_TRY(const std::string_view header, header_text(bytes));
  TANDEM_TRY(std::vector<Entry> entries, HeaderReader(header).read());
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.offsets < b.offsets; });
  const auto data = bytes.subspan(kLengthBytes + header.size());
  std::vector<StoredTensor> tensors;
  uint64_t end = 0;
  for (Entry& entry : entries) {
    TANDEM_TRY(StoredTensor tensor, checked_tensor(std::move(entry), data, end));
    end += tensor.bytes.size();
    tensors.push_back(std::move(tensor));
  }
  if (end == data.size()) return tensors;
  return failure(ErrorCode::kCorruptFile, "{} bytes of data belong to no tensor",
                 data.size() - end);
}

}  // namespace

Result<std::vector<StoredTensor>> parse_safetensors(const std::shared_ptr<const MappedFile>& file) {
  auto tensors = read_tensors(file->bytes());
  if (!tensors) return tl::unexpected(tensors.error().within(file->path()));
  for (StoredTensor& tensor : *tensors) tensor.file = file;
  return tensors;
}

}  // namespace tandem
