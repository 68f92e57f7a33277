#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/thread_pool.h"
#include "device/compile_cache.h"
#include "graph/graph.h"
#include "kernels/linear/linear.h"
#include "tensor/weight_planes.h"

namespace tandem {

/// A weight matrix in the kernels' packed layout; the only copy in memory once the file's own pages
/// are dropped.
struct PackedWeight {
  /// Owns the matrix, perhaps with its neighbours: memory, or a file of the cache.
  std::shared_ptr<const void> memory;
  size_t memory_bytes;  ///< of it, this weight's
  /// Owns the low plane of a nested weight, apart so that INT4 never touches it.
  std::shared_ptr<const void> low_memory = {};
  size_t low_bytes = 0;
  kernels::PackedMatrix matrix;

  /// Bytes that all planes take.
  uint64_t n_bytes() const { return memory_bytes + low_bytes; }
  /// The matrix as `planes` reads it.
  kernels::PackedMatrix view(WeightPlanes planes) const {
    kernels::PackedMatrix out = matrix;
    if (planes == WeightPlanes::kHigh) out.low = nullptr;
    return out;
  }
};

/// Packs each weight once and shares it between the executables that use it. With a folder, what
/// was packed is kept there, and later runs map it: nothing is packed, no memory is filled. Thread
/// safe.
class WeightStore {
 public:
  /// `on_disk`: where packed weights are kept, or null.
  explicit WeightStore(std::shared_ptr<CompileCache> on_disk = nullptr)
      : on_disk_(std::move(on_disk)) {}

  /// Errors: kOutOfMemory naming the tensor and the size. kCorruptFile for nested weights whose
  /// planes fail their checksum or hold an invalid pair.
  Result<std::shared_ptr<const PackedWeight>> packed(const Weight& weight, ThreadPool& pool);
  /// The weights rounded to another type first: a second copy, for devices that hold them so.
  Result<std::shared_ptr<const PackedWeight>> packed_as(const Weight& weight, DType type,
                                                        ThreadPool& pool);

 private:
  using Key = std::tuple<const std::byte*, uint32_t, uint32_t, DType>;

  /// The tiles of these rows where a weight with more rows of the same matrix is packed, so that
  /// shares of a split linear are no second copy; null where none is. The caller holds the lock.
  std::shared_ptr<const PackedWeight> find_rows(const Weight& weight) const;
  /// The weight in packed layout, from the cache or made; the caller holds the lock.
  Result<std::shared_ptr<PackedWeight>> make(const Weight& weight, ThreadPool& pool);
  /// A copy in packed layout.
  Result<std::shared_ptr<PackedWeight>> pack(const Weight& weight, ThreadPool& pool);
  std::shared_ptr<PackedWeight> find_on_disk(const Weight& weight, ThreadPool& pool) const;
  void keep_on_disk(const Weight& weight, const PackedWeight& packed, ThreadPool& pool) const;
  /// Room for `n_bytes`, aligned to a cache line.
  Result<std::byte*> take(size_t n_bytes, const char* name);

  std::shared_ptr<CompileCache> on_disk_;
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<const PackedWeight>> packed_;
  /// Weights lie side by side in large pieces, so that pages of 2 MB hold them whatever their size:
  /// with pages of 4 KB a decode step walks the page tables for every 4 KB it reads.
  std::shared_ptr<Buffer> piece_;
  size_t used_ = 0;  ///< of the piece
};

/// A norm weight or bias as floats.
std::vector<float> decode_vector(const Weight& weight);

}  // namespace tandem
