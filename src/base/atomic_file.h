#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tandem {

enum class Flush {
  kToDisk,
  kWhenConvenient,  ///< a cut of power may leave a damaged file: for what is checked and made again
};

/// Writes a file under a temporary name beside its final one and renames it on `commit`, so that a
/// crash, a full disk or an early return never leaves half a file under the final name. One thread.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();  ///< Removes the temporary file unless committed.

  Result<void> write(std::span<const std::byte> bytes);
  Result<void> write(std::string_view text);
  /// Writes at a place that `write` will not reach; size() does not count it.
  Result<void> write_at(uint64_t offset, std::span<const std::byte> bytes);
  /// Bytes written so far.
  size_t size() const { return n_bytes_; }
  /// Gives the file its final name, after it has reached the disk unless that can be done again.
  Result<void> commit(Flush flush = Flush::kToDisk);

 private:
  AtomicFile(std::string path, std::string temporary, std::FILE* file);

  std::string path_;
  std::string temporary_;
  std::FILE* file_;
  size_t n_bytes_ = 0;
};

}  // namespace tandem
