#pragma once

#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "formats/weight_source.h"
#include "quantize/importance.h"
#include "quantize/nested_fit.h"
#include "quantize/target_format.h"

namespace tandem {

/// How the weights of nested tensors are chosen.
struct NestedSettings {
  uint32_t shift = 4;     ///< e, where no feedback is used
  bool feedback = false;  ///< error feedback at e = 3 where second moments are known
};

/// One tensor in its new format; the views last until the next call.
struct EncodedTensor {
  std::span<const std::byte> high;  ///< the tensor's bytes
  std::span<const std::byte> low;   ///< empty unless nested
  uint32_t shift = 0;
  uint64_t checksum = 0;
  NestedErrors errors;  ///< against the source; `both` equals `high` for formats of one reading
};

/// Encodes tensors one after another on all threads; keeps the last one's bytes only.
class TensorEncoder {
 public:
  explicit TensorEncoder(int n_threads) : pool_(n_threads) {}

  /// `statistics` of the tensor's input, or null. Errors: what reading the source says; kNumeric
  /// naming tensor and row for a weight that is infinite, NaN or beyond the format.
  Result<EncodedTensor> encode(const WeightSource& source, size_t index, TargetFormat target,
                               const InputStatistics* statistics, const NestedSettings& settings);

  /// The tensor's own bytes.
  Result<EncodedTensor> copy(const WeightSource& source, size_t index);

  /// The low plane of Q4_0 tensor `index` of `source` that refines it towards tensor
  /// `original_index` of `original`; e is the better of 3 and 4.
  Result<EncodedTensor> refine(const WeightSource& source, size_t index,
                               const WeightSource& original, size_t original_index);

  ThreadPool& pool() { return pool_; }

 private:
  struct Job;
  static void encode_pruned(const Job& job, const float* w, std::byte* row);
  static void encode_plain(const Job& job, const float* w, std::byte* row);
  Result<void> encode_rows(Job& job, uint64_t first, uint64_t n, std::vector<float>& scratch);
  Result<void> run(Job& job, uint64_t rows_per_task);

  ThreadPool pool_;
  std::vector<std::byte> high_, low_;
};

}  // namespace tandem
