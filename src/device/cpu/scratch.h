#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "graph/graph.h"
#include "kernels/linear/linear.h"

namespace tandem {

/// Sizes of the memory that steps share within one execution.
struct ScratchNeeds {
  size_t n_rows = 0;               ///< most rows of any value
  size_t quantized_columns = 0;    ///< widest input of a quantized linear
  size_t partial_columns = 0;      ///< widest f32 rows beside the workspace; simulated devices only
  size_t attention_bytes = 0;      ///< for each thread
  std::vector<size_t> rope_pairs;  ///< of each rope table

  void merge(const ScratchNeeds& other);
};

/// Working memory of a device, grown when a segment is compiled and never while one runs.
class Scratch {
 public:
  Result<void> reserve(const ScratchNeeds& needs, int n_threads);

  /// Activations of the linear that runs next: (n_rows, its columns), dense.
  kernels::QuantizedActivations quantized();
  /// (n_rows, partial_columns) floats.
  float* partial() { return partial_.as<float>(); }
  /// One encoded row of partial_columns 16-bit numbers for each thread.
  std::byte* rounding(int thread) {
    return rounding_.data() + thread * needs_.partial_columns * sizeof(uint16_t);
  }
  std::byte* attention(int thread) { return attention_.data() + thread * attention_stride_; }
  /// (n_rows, pairs) cosines and sines of a rope table for the rows of this execution.
  float* cosines(RopeTableId table) { return rope_[table].cosines.data(); }
  float* sines(RopeTableId table) { return rope_[table].sines.data(); }
  /// (n_rows) position of each token row.
  std::span<uint32_t> positions() { return positions_; }

 private:
  struct Rotations {
    std::vector<float> cosines, sines;
  };
  ScratchNeeds needs_;
  Buffer codes_, scales_, sums_, partial_, rounding_, attention_;
  size_t attention_stride_ = 0;
  std::vector<Rotations> rope_;
  std::vector<uint32_t> positions_;
};

}  // namespace tandem
