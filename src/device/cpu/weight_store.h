#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "base/buffer.h"
#include "base/thread_pool.h"
#include "graph/graph.h"
#include "kernels/linear/linear.h"

namespace tandem {

/// A weight matrix in the kernels' packed layout; the only copy in memory once the file's own pages
/// are dropped.
struct PackedWeight {
  Buffer memory;
  kernels::PackedMatrix matrix;
};

/// Packs each weight once and shares it between the executables that use it. Thread safe.
class WeightStore {
 public:
  /// Errors: kOutOfMemory naming the tensor and the size. kNumeric for a scale that is no number.
  Result<std::shared_ptr<const PackedWeight>> packed(const Weight& weight, ThreadPool& pool);

 private:
  using Key = std::tuple<const std::byte*, uint32_t, uint32_t>;
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<const PackedWeight>> packed_;
};

/// A norm weight or bias as floats.
std::vector<float> decode_vector(const Weight& weight);

}  // namespace tandem
