#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace tandem {
namespace {

/// Closes the descriptor when the mapping is made or has failed.
struct FileDescriptor {
  int value;
  ~FileDescriptor() {
    if (value >= 0) close(value);
  }
};

Error system_error(const std::string& path, const char* action) {
  const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  return {code, fmt::format("{}: cannot {}: {}", path, action, std::strerror(errno))};
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.value < 0) return tl::unexpected(system_error(path, "open"));
  struct stat info {};
  if (fstat(file.value, &info) != 0) return tl::unexpected(system_error(path, "stat"));
  if (!S_ISREG(info.st_mode)) return failure(ErrorCode::kIo, "{}: not a regular file", path);
  if (info.st_size == 0) return failure(ErrorCode::kCorruptFile, "{}: file is empty", path);
  const size_t n_bytes = static_cast<size_t>(info.st_size);
  void* start = mmap(nullptr, n_bytes, PROT_READ, MAP_PRIVATE, file.value, 0);
  if (start == MAP_FAILED) return tl::unexpected(system_error(path, "map"));
  const int64_t modified_ns =
      int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + int64_t{info.st_mtim.tv_nsec};
  return std::shared_ptr<const MappedFile>(new MappedFile(
      path, {static_cast<const std::byte*>(start), n_bytes}, true, true, modified_ns));
}

std::shared_ptr<const MappedFile> MappedFile::view(std::string name,
                                                   std::span<const std::byte> bytes,
                                                   ViewOf backing) {
  return std::shared_ptr<const MappedFile>(
      new MappedFile(std::move(name), bytes, false, backing == ViewOf::kProgram));
}

MappedFile::~MappedFile() {
  if (owns_mapping_) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::drop_pages(std::span<const std::byte> part) const {
  // Pages that no file backs would come back as zeros.
  if (!is_file_backed_) return;
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  const uintptr_t end = reinterpret_cast<uintptr_t>(part.data() + part.size()) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace tandem
