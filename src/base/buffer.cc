#include "base/buffer.h"

#include <sys/mman.h>

namespace tandem {
namespace {

constexpr size_t kHugePageBytes = size_t{2} << 20;

}  // namespace

void UnmapBytes::operator()(std::byte* start) const { munmap(start, n_bytes); }

Result<Buffer> Buffer::allocate(size_t n_bytes, const char* purpose) {
  Buffer buffer;
  if (n_bytes == 0) return buffer;
  void* start = mmap(nullptr, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) {
    return failure(ErrorCode::kOutOfMemory, "cannot allocate {} bytes for {}", n_bytes, purpose);
  }
  if (n_bytes >= kHugePageBytes) madvise(start, n_bytes, MADV_HUGEPAGE);
  buffer.data_ = {static_cast<std::byte*>(start), UnmapBytes{n_bytes}};
  return buffer;
}

}  // namespace tandem
