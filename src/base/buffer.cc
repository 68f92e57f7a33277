#include "base/buffer.h"

#include <sys/mman.h>

#include <cstdint>

namespace tandem {
namespace {

constexpr size_t kHugePageBytes = size_t{2} << 20;
constexpr size_t kPageBytes = 4096;

/// Zeroed pages; those wanted large start at a page of 2 MB. Null without memory.
std::byte* map_bytes(size_t n_bytes, BufferUse use) {
  const bool is_large = use == BufferUse::kWhole && n_bytes >= kHugePageBytes;
  const size_t extra = is_large ? kHugePageBytes : 0;
  const size_t whole_pages = (n_bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  void* const mapped = mmap(nullptr, whole_pages + extra, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* start = static_cast<std::byte*>(mapped);
  if (!is_large) return start;
  const size_t before = -reinterpret_cast<uintptr_t>(start) % kHugePageBytes;
  if (before > 0) munmap(start, before);
  start += before;
  if (before < extra) munmap(start + whole_pages, extra - before);
  madvise(start, n_bytes, MADV_HUGEPAGE);
  return start;
}

}  // namespace

void UnmapBytes::operator()(std::byte* start) const { munmap(start, n_bytes); }

Result<Buffer> Buffer::allocate(size_t n_bytes, const char* purpose, BufferUse use) {
  Buffer buffer;
  if (n_bytes == 0) return buffer;
  std::byte* const start = map_bytes(n_bytes, use);
  if (start == nullptr) {
    return failure(ErrorCode::kOutOfMemory, "cannot allocate {} bytes for {}", n_bytes, purpose);
  }
  buffer.data_ = {start, UnmapBytes{n_bytes}};
  return buffer;
}

}  // namespace tandem
