#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace tandem::soc {

/// Places buffers in a unit's SRAM: first fit, freed neighbours join.
class SramAllocator {
 public:
  static constexpr uint64_t kAlignment = 128;

  explicit SramAllocator(uint64_t bytes);

  /// Offset of a new buffer; nothing when no hole is large enough. `bytes` is rounded up to the
  /// alignment; 0 bytes take one unit of it.
  std::optional<uint64_t> allocate(uint64_t bytes);
  /// Frees a buffer that `allocate` returned.
  void release(uint64_t offset);

  uint64_t capacity() const { return capacity_; }
  uint64_t used() const { return used_; }
  uint64_t largest_hole() const;

 private:
  uint64_t capacity_;
  uint64_t used_ = 0;
  std::map<uint64_t, uint64_t> holes_;    ///< offset -> bytes
  std::map<uint64_t, uint64_t> buffers_;  ///< offset -> bytes
};

}  // namespace tandem::soc
