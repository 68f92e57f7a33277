#include "quantize/error_feedback.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "quantize/nested_fit.h"
#include "tensor/blocks/q4_0.h"
#include "tensor/blocks/q4_24.h"
#include "tensor/blocks/rounding.h"
#include "tensor/f16.h"
#include "tensor/nested_tensor.h"

namespace tandem {
namespace {

constexpr uint32_t kShift = 3;
constexpr float kSteps = 8.0f;  // 2^e
/// Of the mean diagonal, added to it: as in the paper.
constexpr double kDamping = 0.01;
constexpr size_t kLanes = 8;

/// sum a b in eight lanes: a fixed order that the compiler may vectorise.
float dot(const float* a, const float* b, size_t n) {
  float lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t j = 0; j < kLanes; ++j) lanes[j] += a[i + j] * b[i + j];
  }
  float sum = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
              ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// y += factor x
void add_scaled(float factor, const float* x, float* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

/// Rows and columns in another order.
std::vector<float> permuted(const std::vector<float>& matrix, std::span<const uint32_t> order,
                            ThreadPool& pool) {
  const size_t n = order.size();
  std::vector<float> out(n * n);
  pool.parallel_for(n, 16, [&](size_t begin, size_t end, int) {
    for (size_t i = begin; i < end; ++i) {
      for (size_t j = 0; j < n; ++j) out[i * n + j] = matrix[order[i] * n + order[j]];
    }
  });
  return out;
}

/// Replaces the upper triangle of a symmetric matrix A by R, upper, with A = R R^T. False when A is
/// not positive.
bool factor_upper(std::vector<float>& a, size_t n, ThreadPool& pool) {
  for (size_t j = n; j-- > 0;) {
    const float* row_j = &a[j * n];
    const size_t rest = n - j - 1;
    const float square = row_j[j] - dot(row_j + j + 1, row_j + j + 1, rest);
    if (!(square > 0.0f) || !std::isfinite(square)) return false;
    const float root = std::sqrt(square);
    a[j * n + j] = root;
    pool.parallel_for(j, 64, [&](size_t begin, size_t end, int) {
      for (size_t i = begin; i < end; ++i) {
        float* row_i = &a[i * n];
        row_i[j] = (row_i[j] - dot(row_i + j + 1, row_j + j + 1, rest)) / root;
      }
    });
  }
  return true;
}

/// Replaces R by its inverse U with each row divided by its diagonal: A^-1 = U^T U, and U_ij / U_ii
/// is what an error of step i does to step j.
void shares_of_inverse(std::vector<float>& a, size_t n, ThreadPool& pool) {
  std::vector<float> diagonal(n), row(n);
  for (size_t i = 0; i < n; ++i) diagonal[i] = a[i * n + i];
  for (size_t i = n; i-- > 0;) {
    std::copy_n(&a[i * n], n, row.begin());
    float* out = &a[i * n];
    // out = -sum_k>i R_ik U_k, where row k holds U_k / U_kk and U_kk = 1 / R_kk.
    pool.parallel_for(n - i - 1, 512, [&](size_t begin, size_t end, int) {
      const size_t first = i + 1 + begin, last = i + 1 + end;
      std::fill(out + first, out + last, 0.0f);
      for (size_t k = i + 1; k < last; ++k) {
        const size_t from = std::max(first, k);
        add_scaled(-row[k] / diagonal[k], &a[k * n] + from, out + from, last - from);
      }
    });
    out[i] = 1.0f;
  }
}

}  // namespace

/// Some rows being quantized together, columns in feedback order.
struct ErrorFeedback::Rows {
  const float* w;  ///< (n, columns) in file order
  size_t n;
  std::vector<float> scales;    ///< (n, columns / 32)
  std::vector<float> adjusted;  ///< (n, columns) in feedback order
  std::vector<float> errors;    ///< (n) of the step at hand
  std::vector<int8_t> h, l;     ///< (n, columns) in file order
  bool has_low;
  std::vector<bool> kept = {};  ///< (n, columns) in file order; empty: all
};

Result<ErrorFeedback> ErrorFeedback::create(std::vector<float> moments, size_t columns,
                                            ThreadPool& pool) {
  ErrorFeedback out;
  out.importance_.resize(columns);
  for (size_t i = 0; i < columns; ++i) out.importance_[i] = moments[i * columns + i];
  const double mean = std::accumulate(out.importance_.begin(), out.importance_.end(), 0.0) /
                      static_cast<double>(columns);
  const float damping = static_cast<float>(kDamping * mean);
  for (size_t i = 0; i < columns; ++i) moments[i * columns + i] += damping;
  out.order_.resize(columns);
  std::iota(out.order_.begin(), out.order_.end(), 0);
  std::stable_sort(out.order_.begin(), out.order_.end(),
                   [&](uint32_t a, uint32_t b) { return out.importance_[a] > out.importance_[b]; });
  out.share_ = permuted(moments, out.order_, pool);
  moments = {};
  if (!(mean > 0) || !factor_upper(out.share_, columns, pool)) {
    return failure(ErrorCode::kNumeric,
                   "second moments of {} inputs have no inverse (mean square {})", columns, mean);
  }
  shares_of_inverse(out.share_, columns, pool);
  return out;
}

void ErrorFeedback::spread(Rows& rows, size_t step) const {
  const size_t n = columns();
  const float* share = &share_[step * n];
  for (size_t r = 0; r < rows.n; ++r) {
    float* adjusted = &rows.adjusted[r * n];
    add_scaled(-rows.errors[r], share + step + 1, adjusted + step + 1, n - step - 1);
  }
}

void ErrorFeedback::quantize_high(Rows& rows) const {
  const size_t n = columns();
  for (size_t step = 0; step < n; ++step) {
    const size_t column = order_[step];
    for (size_t r = 0; r < rows.n; ++r) {
      const float scale = rows.scales[r * (n / kNestedGroup) + column / kNestedGroup];
      const float adjusted = rows.adjusted[r * n + step];
      int h = 0;
      const bool is_kept = rows.kept.empty() || rows.kept[r * n + column];
      if (scale != 0.0f && !rows.has_low && is_kept) {
        h = blocks::round_within(adjusted / scale, -8, 7);
      } else if (scale != 0.0f && is_kept) {
        // l reaches from h - 1 to h + 7/8, and half a step beyond.
        const float x = rows.w[r * n + column] / scale;
        const float lowest = std::max(-8.0f, std::min(7.0f, std::ceil(x - 0.9375f)));
        const float highest = std::max(-8.0f, std::min(7.0f, std::floor(x + 1.0625f)));
        h = blocks::round_within(adjusted / scale, static_cast<int>(lowest),
                                 static_cast<int>(highest));
      }
      rows.h[r * n + column] = static_cast<int8_t>(h);
      rows.errors[r] = adjusted - scale * static_cast<float>(h);
    }
    spread(rows, step);
  }
}

void ErrorFeedback::quantize_low(Rows& rows) const {
  const size_t n = columns();
  for (size_t step = 0; step < n; ++step) {
    const size_t column = order_[step];
    for (size_t r = 0; r < rows.n; ++r) {
      const float scale = rows.scales[r * (n / kNestedGroup) + column / kNestedGroup];
      const float adjusted = rows.adjusted[r * n + step];
      const float h = rows.h[r * n + column];
      const int l =
          scale == 0.0f ? 0 : blocks::round_within(kSteps * (adjusted / scale - h), -8, 7);
      rows.l[r * n + column] = static_cast<int8_t>(l);
      rows.errors[r] = adjusted - scale * (h + static_cast<float>(l) / kSteps);
    }
    spread(rows, step);
  }
}

ErrorFeedback::Rows ErrorFeedback::start_rows(const float* w, size_t n_rows, bool has_low) const {
  const size_t n = columns(), n_groups = n / kNestedGroup;
  return {w,
          n_rows,
          std::vector<float>(n_rows * n_groups),
          std::vector<float>(n_rows * n),
          std::vector<float>(n_rows),
          std::vector<int8_t>(n_rows * n),
          std::vector<int8_t>(n_rows * n),
          has_low};
}

void ErrorFeedback::restart(Rows& rows) const {
  const size_t n = columns();
  for (size_t r = 0; r < rows.n; ++r) {
    for (size_t i = 0; i < n; ++i) rows.adjusted[r * n + i] = rows.w[r * n + order_[i]];
  }
}

void ErrorFeedback::encode_rows(const float* w, size_t n_rows, std::byte* high,
                                std::byte* low) const {
  const size_t n_groups = columns() / kNestedGroup;
  Rows rows = start_rows(w, n_rows, low != nullptr);
  std::vector<uint16_t> stored(n_rows * n_groups);
  for (size_t g = 0; g < stored.size(); ++g) {
    const float* importance = &importance_[g % n_groups * kNestedGroup];
    const float low_weight = low == nullptr ? 0.0f : kLowPlaneWeight;
    stored[g] = fit_nested_group(w + g * kNestedGroup, importance, kShift, low_weight).scale;
    rows.scales[g] = f16_to_f32(stored[g]);
  }
  restart(rows);
  quantize_high(rows);
  if (low != nullptr) {
    restart(rows);
    quantize_low(rows);
  }
  for (size_t g = 0; g < stored.size(); ++g) {
    NestedGroup group;
    group.scale = stored[g];
    std::copy_n(&rows.h[g * kNestedGroup], kNestedGroup, group.h);
    std::copy_n(&rows.l[g * kNestedGroup], kNestedGroup, group.l);
    std::byte unused[kLowGroupBytes];
    put_nested_group(group, high + g * sizeof(BlockQ4_0),
                     low == nullptr ? unused : low + g * kLowGroupBytes);
  }
}

void ErrorFeedback::encode_pruned_rows(const float* w, size_t n_rows, std::byte* out) const {
  const size_t n_groups = columns() / BlockQ4_24::kElements;
  Rows rows = start_rows(w, n_rows, false);
  rows.kept.resize(n_rows * columns());
  std::vector<BlockQ4_24> blocks(n_rows * n_groups);
  for (size_t g = 0; g < blocks.size(); ++g) {
    const size_t first = g * BlockQ4_24::kElements;
    encode(w + first, &importance_[g % n_groups * BlockQ4_24::kElements], blocks[g]);
    rows.scales[g] = f16_to_f32(blocks[g].d);
    for (int i = 0; i < BlockQ4_24::kKept; ++i) {
      rows.kept[first + q4_24_position(blocks[g], i)] = true;
    }
  }
  restart(rows);
  quantize_high(rows);
  for (size_t g = 0; g < blocks.size(); ++g) {
    BlockQ4_24& block = blocks[g];
    for (int i = 0; i < BlockQ4_24::kKept; ++i) {
      const int h = rows.h[g * BlockQ4_24::kElements + q4_24_position(block, i)];
      q4_24_set_code(block, i, h + 8);
    }
    std::memcpy(out + g * sizeof block, &block, sizeof block);
  }
}

}  // namespace tandem
