#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"

namespace tandem {

/// Gives a mapping of `n_bytes` back to the system.
struct UnmapBytes {
  size_t n_bytes = 0;
  void operator()(std::byte* start) const;
};

/// How much of a buffer will be touched.
enum class BufferUse {
  kSparse,  ///< perhaps little, as of a cache for a context that may never fill; small pages
  kWhole,   ///< all of it, so pages of 2 MB where the system has them
};

/// Owns zeroed, page-aligned memory of fixed size; pages count as resident once they are touched.
class Buffer {
 public:
  Buffer() = default;

  /// Errors: kOutOfMemory naming `purpose` and the size.
  static Result<Buffer> allocate(size_t n_bytes, const char* purpose,
                                 BufferUse use = BufferUse::kSparse);

  /// Takes over `n_bytes` that mmap returned.
  static Buffer adopt(std::byte* mapping, size_t n_bytes) {
    Buffer out;
    out.data_ = {mapping, UnmapBytes{n_bytes}};
    return out;
  }

  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  size_t size() const { return data_.get_deleter().n_bytes; }
  std::span<std::byte> bytes() { return {data(), size()}; }
  std::span<const std::byte> bytes() const { return {data(), size()}; }

  template <class T>
  T* as(size_t offset_bytes = 0) {
    return reinterpret_cast<T*>(data() + offset_bytes);
  }
  template <class T>
  const T* as(size_t offset_bytes = 0) const {
    return reinterpret_cast<const T*>(data() + offset_bytes);
  }

 private:
  std::unique_ptr<std::byte[], UnmapBytes> data_;
};

}  // namespace tandem
