#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace tandem {

/// What a view's bytes lie in.
enum class ViewOf {
  kMemory,   ///< anything
  kProgram,  ///< read-only data of the program itself, whose pages its file can fill again
};

/// A whole file mapped read only. Shared by everything that views it; unmapped with the last owner.
/// Immutable after `open`, so any thread may read.
class MappedFile {
 public:
  /// Maps `path`. Errors: kNotFound, kIo (with the system's reason), kCorruptFile when empty.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);

  /// Views bytes that live for the whole program (an embedded model). `name` stands for the path.
  static std::shared_ptr<const MappedFile> view(std::string name, std::span<const std::byte> bytes,
                                                ViewOf backing = ViewOf::kMemory);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  /// When the file was last changed, nanoseconds since 1970; 0 for a view.
  int64_t modified_ns() const { return modified_ns_; }

  /// Tells the kernel that these bytes will not be read again soon, so that their pages stop
  /// counting as resident. Reading them later is still correct. Does nothing to a view of memory.
  void drop_pages(std::span<const std::byte> part) const;

 private:
  MappedFile(std::string path, std::span<const std::byte> bytes, bool owns_mapping,
             bool is_file_backed, int64_t modified_ns = 0)
      : path_(std::move(path)),
        bytes_(bytes),
        modified_ns_(modified_ns),
        owns_mapping_(owns_mapping),
        is_file_backed_(is_file_backed) {}

  std::string path_;
  std::span<const std::byte> bytes_;
  int64_t modified_ns_;
  bool owns_mapping_;
  bool is_file_backed_;
};

}  // namespace tandem
