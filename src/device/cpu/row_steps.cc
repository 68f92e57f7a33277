#include "device/cpu/row_steps.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "kernels/linear/nested.h"
#include "tensor/convert.h"
#include "tensor/nested_tensor.h"

namespace tandem {
namespace {

// Elements of one task: about ten microseconds of work, well above the cost of handing it out.
constexpr size_t kElementsPerTask = 16384;

size_t rows_per_task(size_t width) { return std::max<size_t>(1, kElementsPerTask / width); }

}  // namespace

void EmbedStep::run(const StepContext& c) const {
  const size_t stride = row_bytes(table_.type, table_.columns);
  float* out = c.value(output_);
  c.pool.parallel_for(c.bindings.tokens.size(), 16, [&](size_t begin, size_t end, int) {
    for (size_t row = begin; row < end; ++row) {
      const size_t token = static_cast<size_t>(c.bindings.tokens[row]);
      float* to = out + row * table_.columns;
      const std::byte* from = table_.bytes.data() + token * stride;
      const bool both = table_.nested && c.bindings.planes == WeightPlanes::kBoth;
      if (packed_) {
        unpack(token, c.bindings.planes, to);
      } else if (both) {
        const size_t low = (table_.first_nested_row + token) * low_row_bytes(table_.columns);
        decode_nested_row(from, table_.nested->low.data() + low, table_.columns,
                          table_.nested->shift, to);
      } else {
        decode_row(table_.type, from, to, table_.columns);
      }
    }
  });
}

void EmbedStep::unpack(size_t token, WeightPlanes planes, float* out) const {
  const kernels::PackedMatrix w = packed_->view(planes);
  w.low == nullptr ? kernels::unpack_row(w, token, out) : kernels::unpack_nested_row(w, token, out);
}

void NormStep::run(const StepContext& c) const {
  const size_t width = c.width(output_);
  const size_t groups = width / group_;
  const float* input = c.value(input_);
  float* output = c.value(output_);
  c.pool.parallel_for(c.n_rows(output_), rows_per_task(width), [&](size_t begin, size_t end, int) {
    kernels_.rms_norm.run({.x = input + begin * width,
                           .weight = weight_.empty() ? nullptr : weight_.data(),
                           .y = output + begin * width,
                           .n_rows = (end - begin) * groups,
                           .n = group_,
                           .x_stride = group_ * sizeof(float),
                           .y_stride = group_ * sizeof(float),
                           .eps = epsilon_});
  });
}

void PositionScaleStep::run(const StepContext& c) const {
  const size_t width = c.width(output_);
  const float* input = c.value(input_);
  float* output = c.value(output_);
  for (size_t row = 0; row < c.n_rows(output_); ++row) {
    const uint32_t intervals = c.scratch.positions()[row] / attributes_.interval;
    const float factor = 1.0f + attributes_.coefficient * std::log(1.0f + intervals);
    kernels_.elementwise.scale(input + row * width, factor, output + row * width, width);
  }
}

void ElementwiseStep::run(const StepContext& c) const {
  const size_t n = c.n_rows(*node_.output) * c.width(*node_.output);
  c.pool.parallel_for(n, kElementsPerTask,
                      [&](size_t begin, size_t end, int) { apply(c, begin, end - begin); });
}

void ElementwiseStep::apply(const StepContext& c, size_t first, size_t n) const {
  const kernels::ElementwiseRow& k = kernels_.elementwise;
  const float* a = c.value(node_.inputs[0]) + first;
  float* y = c.value(*node_.output) + first;
  const auto second = [&] { return c.value(node_.inputs[1]) + first; };
  switch (node_.op) {
    case Op::kAdd:
      return k.add(a, second(), y, n);
    case Op::kGlu:
      return k.glu(std::get<GluAttributes>(node_.attributes).activation, a, second(), y, n);
    case Op::kScale:
      return k.scale(a, std::get<ScaleAttributes>(node_.attributes).factor, y, n);
    case Op::kSoftcap:
      return k.softcap(a, std::get<SoftcapAttributes>(node_.attributes).cap, y, n);
    default:
      TANDEM_CHECK(false);
  }
}

void SelectRowsStep::run(const StepContext& c) const {
  const float* input = c.value(input_);
  float* output = c.value(output_);
  const size_t width = c.width(output_);
  for (size_t i = 0; i < c.bindings.output_rows.size(); ++i) {
    std::memcpy(output + i * width, input + c.bindings.output_rows[i] * width,
                width * sizeof(float));
  }
}

}  // namespace tandem
