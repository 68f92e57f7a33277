#pragma once

#include "base/buffer.h"

namespace tandem {

/// Zeroed, page-aligned memory behind a file descriptor, which a device's driver (or another
/// process) can map: the same pages, no copy.
class SharedMemory {
 public:
  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  /// Errors: kOutOfMemory naming `purpose` and the size.
  static Result<SharedMemory> allocate(size_t n_bytes, const char* purpose);

  std::byte* data() { return buffer_.data(); }
  const std::byte* data() const { return buffer_.data(); }
  std::span<const std::byte> bytes() const { return buffer_.bytes(); }
  size_t size() const { return buffer_.size(); }
  /// A memfd, owned by this; -1 for no memory.
  int descriptor() const { return descriptor_; }

 private:
  Buffer buffer_;
  int descriptor_ = -1;
};

}  // namespace tandem
