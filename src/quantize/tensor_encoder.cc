// One tensor from a weight source to its new bytes, rows split over threads.

#include "quantize/tensor_encoder.h"

#include <cmath>
#include <cstring>
#include <mutex>
#include <optional>

#include "quantize/error_feedback.h"
#include "tensor/blocks/q4_0.h"
#include "tensor/blocks/q4_24.h"
#include "tensor/convert.h"
#include "tensor/nested_tensor.h"

namespace tandem {
namespace {

constexpr uint64_t kRowsPerTask = 16;

void add(const NestedErrors& from, NestedErrors& to) {
  to.high += from.high;
  to.both += from.both;
  to.weights += from.weights;
}

void add_plain_errors(DType type, const float* w, const std::byte* row, size_t columns,
                      std::vector<float>& decoded, NestedErrors& out) {
  decoded.resize(columns);
  decode_row(type, row, decoded.data(), columns);
  for (size_t i = 0; i < columns; ++i) {
    const double e = static_cast<double>(w[i]) - decoded[i];
    out.high += e * e;
    out.both += e * e;
    out.weights += static_cast<double>(w[i]) * w[i];
  }
}

}  // namespace

/// A tensor being encoded, and what its tasks have found.
struct TensorEncoder::Job {
  const WeightSource& source;  ///< of the weights
  size_t index;
  TargetFormat target;
  uint32_t shift;
  std::vector<float> importance;          ///< (K), or empty
  std::optional<ErrorFeedback> feedback;  ///< set: encodes both planes
  bool refining = false;                  ///< high_ holds Q4_0 rows already
  std::mutex mutex;
  EncodedTensor out;
  std::optional<Error> error;

  const SourceTensor& tensor() const { return source.tensors()[index]; }
  size_t columns() const { return tensor().row_length(); }
};

void TensorEncoder::encode_pruned(const Job& job, const float* w, std::byte* row) {
  for (size_t i = 0; i < job.columns(); i += BlockQ4_24::kElements, row += sizeof(BlockQ4_24)) {
    BlockQ4_24 block;
    tandem::encode(w + i, &job.importance[i], block);
    std::memcpy(row, &block, sizeof block);
  }
}

void TensorEncoder::encode_plain(const Job& job, const float* w, std::byte* row) {
  const size_t columns = job.columns();
  if (!job.target.takes_importance() || job.importance.empty()) {
    return encode_row(job.target.type, w, row, columns);
  }
  if (job.target.type == DType::kQ4_24) return encode_pruned(job, w, row);
  for (size_t i = 0; i < columns; i += kNestedGroup, row += sizeof(BlockQ4_0)) {
    std::byte unused[kLowGroupBytes];
    put_nested_group(fit_nested_group(w + i, &job.importance[i], 4, 0.0f), row, unused);
  }
}

Result<void> TensorEncoder::encode_rows(Job& job, uint64_t first, uint64_t n,
                                        std::vector<float>& scratch) {
  const size_t columns = job.columns(), high_stride = row_bytes(job.target.type, columns);
  const size_t low_stride = job.target.nested ? low_row_bytes(columns) : 0;
  scratch.resize(n * columns);
  TANDEM_TRY(job.source.read_rows(job.index, first, n, scratch.data()));
  for (size_t i = 0; i < scratch.size(); ++i) {
    if (std::isfinite(scratch[i])) continue;
    return failure(ErrorCode::kNumeric, "{}: tensor '{}': row {}, column {} is {}",
                   job.source.metadata().source(), job.tensor().name, first + i / columns,
                   i % columns, scratch[i]);
  }
  std::byte* high = high_.data() + first * high_stride;
  std::byte* low = low_.data() + first * low_stride;
  if (job.feedback && job.target.type == DType::kQ4_24) {
    job.feedback->encode_pruned_rows(scratch.data(), n, high);
  } else if (job.feedback) {
    job.feedback->encode_rows(scratch.data(), n, high, job.target.nested ? low : nullptr);
  }
  const float* importance = job.importance.empty() ? nullptr : job.importance.data();
  NestedErrors errors;
  uint64_t checksum = 0;
  std::vector<float> decoded;
  for (uint64_t row = 0; row < n; ++row, high += high_stride, low += low_stride) {
    const float* w = &scratch[row * columns];
    if (!job.target.nested) {
      if (!job.feedback) encode_plain(job, w, high);
      if (first_non_finite(job.target.type, high, columns) != columns) {
        return failure(ErrorCode::kNumeric, "{}: tensor '{}': row {} is beyond the range of {}",
                       job.source.metadata().source(), job.tensor().name, first + row,
                       job.target.name());
      }
      add_plain_errors(job.target.type, w, high, columns, decoded, errors);
      continue;
    }
    if (job.refining) {
      refine_row(w, high, columns, job.shift, low);
    } else if (!job.feedback) {
      encode_nested_row(w, importance, columns, job.shift, high, low);
    }
    add_nested_errors(w, high, low, columns, job.shift, errors);
    checksum += nested_row_checksum({high, high_stride}, {low, low_stride}, first + row);
  }
  const std::lock_guard lock(job.mutex);
  job.out.checksum += checksum;
  add(errors, job.out.errors);
  return {};
}

Result<void> TensorEncoder::run(Job& job, uint64_t rows_per_task) {
  const uint64_t n_rows = job.tensor().n_rows();
  const uint64_t n_tasks = (n_rows + rows_per_task - 1) / rows_per_task;
  std::vector<std::vector<float>> scratch(pool_.n_threads());
  pool_.parallel_for(n_tasks, 1, [&](size_t begin, size_t end, int thread) {
    for (uint64_t task = begin; task < end; ++task) {
      const uint64_t first = task * rows_per_task;
      const uint64_t n = std::min(rows_per_task, n_rows - first);
      auto outcome = encode_rows(job, first, n, scratch[thread]);
      if (outcome) continue;
      const std::lock_guard lock(job.mutex);
      if (!job.error) job.error = outcome.error();
    }
  });
  if (job.error) return tl::unexpected(*job.error);
  job.out.high = high_;
  job.out.low = low_;
  job.out.shift = job.target.nested ? job.shift : 0;
  return {};
}

Result<EncodedTensor> TensorEncoder::encode(const WeightSource& source, size_t index,
                                            TargetFormat target, const InputStatistics* statistics,
                                            const NestedSettings& settings) {
  const SourceTensor& tensor = source.tensors()[index];
  const size_t columns = tensor.row_length();
  if (columns % info(target.type).block_size != 0) {
    return failure(ErrorCode::kInvalidArgument,
                   "{}: tensor '{}' has rows of {} weights, {} needs a multiple of {}",
                   source.metadata().source(), tensor.name, columns, target.name(),
                   info(target.type).block_size);
  }
  Job job{source, index, target, settings.shift, {}, {}, false, {}, {}, {}};
  if (statistics != nullptr && target.takes_importance()) {
    if (statistics->sum_squares.size() != columns) {
      return failure(ErrorCode::kInvalidArgument,
                     "tensor '{}' has rows of {} weights, its importance has {}", tensor.name,
                     columns, statistics->sum_squares.size());
    }
    job.importance = statistics->importance();
    if (settings.feedback && !statistics->moments.empty()) {
      TANDEM_TRY(job.feedback, ErrorFeedback::create(statistics->moments, columns, pool_));
      job.shift = 3;
    }
  }
  high_.resize(tensor.n_rows() * row_bytes(target.type, columns));
  low_.resize(target.nested ? tensor.n_rows() * low_row_bytes(columns) : 0);
  TANDEM_TRY(run(job, kRowsPerTask));
  return job.out;
}

Result<EncodedTensor> TensorEncoder::copy(const WeightSource& source, size_t index) {
  const SourceTensor& tensor = source.tensors()[index];
  high_.resize(tensor.n_rows() * row_bytes(tensor.exact_type, tensor.row_length()));
  low_.clear();
  TANDEM_TRY(source.read_exact(index, 0, tensor.n_rows(), high_.data()));
  const size_t stride = high_.size() / tensor.n_rows();
  for (uint64_t row = 0; holds_weights(tensor.exact_type) && row < tensor.n_rows(); ++row) {
    const size_t bad =
        first_non_finite(tensor.exact_type, high_.data() + row * stride, tensor.row_length());
    if (bad == tensor.row_length()) continue;
    return failure(ErrorCode::kNumeric, "{}: tensor '{}': row {} is infinite or NaN from column {}",
                   source.metadata().source(), tensor.name, row, bad);
  }
  EncodedTensor out;
  out.high = high_;
  return out;
}

Result<EncodedTensor> TensorEncoder::refine(const WeightSource& source, size_t index,
                                            const WeightSource& original, size_t original_index) {
  const SourceTensor& tensor = source.tensors()[index];
  TANDEM_TRY(copy(source, index));
  low_.resize(tensor.n_rows() * low_row_bytes(tensor.row_length()));
  const auto refined = [&](uint32_t shift) -> Result<EncodedTensor> {
    Job job{original, original_index, {DType::kQ4_0, true}, shift, {}, {}, true, {}, {}, {}};
    TANDEM_TRY(run(job, kRowsPerTask));
    return job.out;
  };
  TANDEM_TRY(const EncodedTensor fine, refined(4));
  TANDEM_TRY(const EncodedTensor wide, refined(3));
  if (wide.errors.both <= fine.errors.both) return wide;
  return refined(4);
}

}  // namespace tandem
