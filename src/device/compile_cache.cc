// Entry: magic, lengths of key and code, checksum of both; then the key as text, zeros up to a
// multiple of 64 bytes, the code.

#include "device/compile_cache.h"

#include <cstring>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/hash.h"
#include "base/mapped_file.h"

namespace tandem {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kPieceBytes = size_t{1} << 20;
constexpr char kMagic[8] = {'T', 'N', 'D', 'M', 'C', 'C', '0', '2'};

struct Header {
  char magic[8];
  uint64_t key_bytes;
  uint64_t code_bytes;
  uint64_t checksum;
};
static_assert(sizeof(Header) == 32);

/// "chip=x\ndriver=y\n", with \ and line breaks of values escaped.
std::string text_of(const CompileKey& key) {
  std::string out;
  for (const auto& [name, value] : key) {
    out += name + "=";
    for (char c : value) {
      if (c == '\n') {
        out += "\\n";
      } else if (c == '\\') {
        out += "\\\\";
      } else {
        out += c;
      }
    }
    out += '\n';
  }
  return out;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

size_t padded(size_t n_bytes) { return (n_bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Pieces of the code are summed by themselves, so that threads can share the work.
uint64_t checksum_of(std::span<const std::byte> key, std::span<const std::byte> code,
                     ThreadPool* pool) {
  std::vector<uint64_t> sums((code.size() + kPieceBytes - 1) / kPieceBytes);
  const auto sum_pieces = [&](size_t begin, size_t end, int) {
    for (size_t i = begin; i < end; ++i) {
      const size_t first = i * kPieceBytes;
      sums[i] = damage_checksum(code.subspan(first, std::min(kPieceBytes, code.size() - first)));
    }
  };
  if (pool == nullptr) {
    sum_pieces(0, sums.size(), 0);
  } else {
    pool->parallel_for(sums.size(), 1, sum_pieces);
  }
  return content_hash(std::as_bytes(std::span(sums)), content_hash(key, code.size()));
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

/// The first field that differs, in a sentence.
std::string difference(std::string_view theirs, std::string_view ours) {
  while (!theirs.empty() && !ours.empty()) {
    const std::string_view a = first_line(theirs), b = first_line(ours);
    if (a != b) {
      const std::string_view name = b.substr(0, b.find('='));
      const bool same_field = a.substr(0, a.find('=')) == name && name.size() < b.size();
      if (!same_field) break;
      return fmt::format("the entry's {} is {}, here it is {}", name, a.substr(name.size() + 1),
                         b.substr(name.size() + 1));
    }
    theirs.remove_prefix(std::min(theirs.size(), a.size() + 1));
    ours.remove_prefix(std::min(ours.size(), b.size() + 1));
  }
  return "the entry's key has other fields";
}

}  // namespace

std::shared_ptr<CompileCache> CompileCache::open(std::string folder, LogSink log) {
  if (folder.empty()) return nullptr;
  return std::make_shared<CompileCache>(std::move(folder), std::move(log));
}

std::string CompileCache::path_of(const CompileKey& key) const {
  const std::string text = text_of(key);
  return (std::filesystem::path(folder_) / fmt::format("{:016x}{:016x}.code",
                                                       content_hash(bytes_of(text)),
                                                       content_hash(bytes_of(text), 1)))
      .string();
}

CompileCache::Lookup CompileCache::find(const CompileKey& key, ThreadPool* pool) const {
  const auto file = MappedFile::open(path_of(key));
  if (!file) {
    const bool is_new = file.error().code == ErrorCode::kNotFound;
    return {std::nullopt, is_new ? "no entry" : file.error().message};
  }
  const std::span<const std::byte> bytes = (*file)->bytes();
  Header header;
  if (bytes.size() < sizeof header) return {std::nullopt, "the entry is cut short"};
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) {
    return {std::nullopt, "the entry is of another format"};
  }
  const uint64_t rest = bytes.size() - sizeof header;
  const bool has_key = header.key_bytes <= rest;
  const size_t code_begin = has_key ? padded(sizeof header + header.key_bytes) : 0;
  const bool fits =
      has_key && code_begin <= bytes.size() && header.code_bytes == bytes.size() - code_begin;
  if (!fits) return {std::nullopt, "the entry is cut short"};
  const auto key_bytes = bytes.subspan(sizeof header, code_begin - sizeof header);
  const auto code = bytes.subspan(code_begin);
  if (checksum_of(key_bytes, code, pool) != header.checksum) {
    return {std::nullopt, "the entry's checksum is wrong"};
  }
  const std::string_view theirs(reinterpret_cast<const char*>(key_bytes.data()), header.key_bytes);
  const std::string ours = text_of(key);
  if (theirs != ours) return {std::nullopt, difference(theirs, ours)};
  return {Entry{*file, code}, ""};
}

Result<void> CompileCache::store(const CompileKey& key, std::span<const std::byte> code,
                                 ThreadPool* pool) const {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) return failure(ErrorCode::kIo, "{}: {}", folder_, error.message());
  std::string text = text_of(key);
  const size_t key_bytes = text.size();
  text.resize(padded(sizeof(Header) + key_bytes) - sizeof(Header));
  Header header{{}, key_bytes, code.size(), checksum_of(bytes_of(text), code, pool)};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  TANDEM_TRY(AtomicFile file, AtomicFile::create(path_of(key)));
  TANDEM_TRY(file.write(std::as_bytes(std::span(&header, 1))));
  TANDEM_TRY(file.write(text));
  TANDEM_TRY(file.write(code));
  return file.commit(Flush::kWhenConvenient);
}

void CompileCache::keep(const CompileKey& key, std::span<const std::byte> code, ThreadPool* pool) {
  if (gave_up_) return;
  const auto stored = store(key, code, pool);
  if (stored || gave_up_.exchange(true) || !log_) return;
  log_(LogLevel::kWarning,
       fmt::format("compile cache: {}; the next start compiles again", stored.error().message));
}

}  // namespace tandem
