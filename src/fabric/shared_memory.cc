#include "fabric/shared_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

namespace tandem {

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : buffer_(std::move(other.buffer_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(buffer_, other.buffer_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<SharedMemory> SharedMemory::allocate(size_t n_bytes, const char* purpose) {
  SharedMemory out;
  if (n_bytes == 0) return out;
  out.descriptor_ = memfd_create(purpose, MFD_CLOEXEC);
  const bool has_room =
      out.descriptor_ >= 0 && ftruncate(out.descriptor_, static_cast<off_t>(n_bytes)) == 0;
  void* start =
      !has_room ? MAP_FAILED
                : mmap(nullptr, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, out.descriptor_, 0);
  if (start == MAP_FAILED) {
    return failure(ErrorCode::kOutOfMemory, "cannot allocate {} shareable bytes for {}", n_bytes,
                   purpose);
  }
  out.buffer_ = Buffer::adopt(static_cast<std::byte*>(start), n_bytes);
  return out;
}

}  // namespace tandem
