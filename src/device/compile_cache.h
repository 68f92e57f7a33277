#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/mapped_file.h"
#include "base/result.h"
#include "base/thread_pool.h"

namespace tandem {

/// Everything that what a device makes of a model depends on, as named fields: chip, driver, model,
/// quantization, shapes, options, segment. Two keys are equal when every field is.
using CompileKey = std::vector<std::pair<std::string, std::string>>;

/// What devices make of a model, kept on disk: compiled segments, packed weights. One file each,
/// named by a hash of the key and holding the key itself. An entry is used only when its key is
/// equal to the byte, its length right and its checksum good; anything else is a reason to compile
/// again, never an error. Files appear under their name whole (temporary name, rename), so
/// processes may share a folder. Thread safe.
class CompileCache {
 public:
  /// The folder is made when something is stored. `log` gets the warnings of keep().
  explicit CompileCache(std::string folder, LogSink log = {})
      : folder_(std::move(folder)), log_(std::move(log)) {}
  /// None for an empty name.
  static std::shared_ptr<CompileCache> open(std::string folder, LogSink log = {});

  struct Entry {
    std::shared_ptr<const MappedFile> file;  ///< owns the code
    std::span<const std::byte> code;         ///< starts at a multiple of 64 bytes
  };
  struct Lookup {
    std::optional<Entry> entry;  ///< nothing: compile
    std::string
        reason;  ///< why there is nothing: "no entry", "driver is 2.27, here it is 2.26", ...
  };
  /// `pool`: threads that check a large entry, or null.
  Lookup find(const CompileKey& key, ThreadPool* pool = nullptr) const;

  /// Replaces what is there. Errors: kIo.
  Result<void> store(const CompileKey& key, std::span<const std::byte> code,
                     ThreadPool* pool = nullptr) const;
  /// As store(), but a folder that is full or cannot be written costs the next run the compilation
  /// and this one a warning; nothing is stored after it.
  void keep(const CompileKey& key, std::span<const std::byte> code, ThreadPool* pool = nullptr);

  /// Where the key's entry lies.
  std::string path_of(const CompileKey& key) const;

 private:
  std::string folder_;
  LogSink log_;
  std::atomic<bool> gave_up_ = false;
};

}  // namespace tandem
