#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace tandem {

AtomicFile::AtomicFile(std::string path, std::string temporary, std::FILE* file)
    : path_(std::move(path)), temporary_(std::move(temporary)), file_(file) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      file_(std::exchange(other.file_, nullptr)),
      n_bytes_(other.n_bytes_) {}

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  std::string temporary = path + ".XXXXXX.tmp";
  const int descriptor = mkostemps(temporary.data(), 4, O_CLOEXEC);
  if (descriptor < 0) {
    return failure(ErrorCode::kIo, "{}: cannot create: {}", path, std::strerror(errno));
  }
  // mkostemps makes files private to their owner; an output follows the umask like any other.
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(descriptor, 0666 & ~mask);
  return AtomicFile(path, std::move(temporary), fdopen(descriptor, "wb"));
}

AtomicFile::~AtomicFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  unlink(temporary_.c_str());
}

Result<void> AtomicFile::write(std::span<const std::byte> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
    return failure(ErrorCode::kIo, "{}: cannot write {} bytes at offset {}: {}", path_,
                   bytes.size(), n_bytes_, std::strerror(errno));
  }
  n_bytes_ += bytes.size();
  return {};
}

Result<void> AtomicFile::write(std::string_view text) {
  return write(std::as_bytes(std::span(text.data(), text.size())));
}

Result<void> AtomicFile::write_at(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(fileno(file_), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return failure(ErrorCode::kIo, "{}: cannot write {} bytes at offset {}: {}", path_,
                     bytes.size(), offset, std::strerror(errno));
    }
    bytes = bytes.subspan(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return {};
}

Result<void> AtomicFile::commit(Flush flush) {
  const bool to_disk = flush == Flush::kToDisk;
  const bool flushed = std::fflush(file_) == 0 && (!to_disk || fsync(fileno(file_)) == 0);
  if (!flushed || std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return failure(ErrorCode::kIo, "{}: cannot finish writing: {}", path_, std::strerror(errno));
  }
  std::fclose(std::exchange(file_, nullptr));
  return {};
}

}  // namespace tandem
