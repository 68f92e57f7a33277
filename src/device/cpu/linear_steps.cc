#include "device/cpu/linear_steps.h"

#include <algorithm>

namespace tandem {
namespace {

// Chunks per thread: enough that an uneven core costs little, few enough that the counter is cheap.
constexpr size_t kChunksPerThread = 8;

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
  const kernels::PackedMatrix w = weight_->view(c.bindings.planes);
  const kernels::LinearFn run = w.low == nullptr ? kernel_.run : nested_.run;
  kernels::LinearArgs args{.w = w,
                           .x = c.value(input_),
                           .x_stride = c.row_bytes(input_),
                           .xq = c.scratch.quantized(),
                           .bias = bias_.empty() ? nullptr : bias_.data(),
                           .y = c.value(output_),
                           .y_stride = c.row_bytes(output_),
                           .m = c.n_rows(output_),
                           .n_begin = 0,
                           .n_end = 0};
  const size_t n_tiles = (args.w.n + kernels::kTileRows - 1) / kernels::kTileRows;
  const size_t grain = std::max<size_t>(1, n_tiles / (c.pool.n_threads() * kChunksPerThread));
  c.pool.parallel_for(n_tiles, grain, [&](size_t begin, size_t end, int) {
    kernels::LinearArgs part = args;
    part.n_begin = begin * kernels::kTileRows;
    part.n_end = std::min(end * kernels::kTileRows, args.w.n);
    run(part);
  });
}

}  // namespace tandem
