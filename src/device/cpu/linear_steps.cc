#include "device/cpu/linear_steps.h"

#include <algorithm>

namespace tandem {
namespace {

// The shortest ranges of a loop are this part of a thread's share: an uneven core costs little and
// the hand-out stays cheap.
constexpr size_t kShortestShare = 16;
// Tiles that kernels for many rows take together.
constexpr size_t kTilesTogether = 4;
constexpr size_t kManyRows = 12;

}  // namespace

void QuantizeStep::run(const StepContext& c) const {
  const size_t columns = c.width(input_);
  const kernels::QuantizedActivations all = c.scratch.quantized();
  const float* x = c.value(input_);
  c.pool.parallel_for(c.n_rows(input_), 4, [&](size_t begin, size_t end, int) {
    const size_t first = begin * columns;
    kernels_.quantize.run(
        {.x = x + first,
         .x_stride = c.row_bytes(input_),
         .n_rows = end - begin,
         .k = columns,
         .out = {all.codes + first, all.scales + first / kernels::kActivationGroup,
                 all.sums + first / kernels::kActivationHalf}});
  });
}

void LinearStep::run(const StepContext& c) const {
  size_t total = 0;
  for (const Part& part : parts_) total += n_tiles(part);
  size_t grain = std::max<size_t>(1, total / (c.pool.n_threads() * kShortestShare));
  if (c.n_rows(parts_[0].output) >= kManyRows) {
    grain = (grain + kTilesTogether - 1) / kTilesTogether * kTilesTogether;
  }
  c.pool.parallel_for_streams(total, grain, [&](size_t begin, size_t end, int) {
    size_t first = 0;
    for (const Part& part : parts_) {
      const size_t last = first + n_tiles(part);
      if (begin < last && end > first) {
        run_tiles(c, part, std::max(begin, first) - first, std::min(end, last) - first);
      }
      first = last;
    }
  });
}

void LinearStep::run_tiles(const StepContext& c, const Part& part, size_t begin, size_t end) const {
  const kernels::PackedMatrix w = part.weight->view(c.bindings.planes);
  const kernels::LinearFn run = w.low == nullptr ? part.kernel.run : part.nested.run;
  run({.w = w,
       .x = c.value(input_),
       .x_stride = c.row_bytes(input_),
       .xq = c.scratch.quantized(),
       .bias = part.bias.empty() ? nullptr : part.bias.data(),
       .y = c.value(part.output),
       .y_stride = c.row_bytes(part.output),
       .m = c.n_rows(part.output),
       .n_begin = begin * kernels::kTileRows,
       .n_end = std::min(end * kernels::kTileRows, w.n)});
}

}  // namespace tandem
