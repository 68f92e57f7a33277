// From a budget to a format for each matrix, by measurement.

#include "quantize/mixed_precision.h"

#include <algorithm>

#include "tensor/small_block_format.h"

namespace tandem {
namespace {

constexpr double kMeasuredBits = 5.0;
/// KL below this is noise of single measurements.
constexpr double kSmallestKl = 1e-9;
constexpr int kTightenings = 4;

struct Matrix {
  std::string name;
  std::vector<TargetFormat> formats;
  TensorCosts costs;
};

bool is_matrix(const SourceTensor& tensor) {
  return FormatChoice{}.choose(tensor) != TargetFormat{DType::kF32, false} &&
         tensor.dims.size() > 1;
}

uint64_t bytes_in(const SourceTensor& tensor, TargetFormat format) {
  return static_cast<uint64_t>(static_cast<double>(tensor.n_elements()) * format.bits_per_weight() /
                               8);
}

/// What the candidates become for rows of this length, smallest first, each once.
std::vector<TargetFormat> fitting(const std::vector<TargetFormat>& candidates,
                                  uint64_t row_length) {
  std::vector<TargetFormat> out;
  for (TargetFormat format : candidates) {
    while (row_length % info(format.type).block_size != 0) {
      format = {small_block_format(format.type), false};
    }
    if (std::ranges::find(out, format) == out.end()) out.push_back(format);
  }
  std::ranges::stable_sort(out, {}, &TargetFormat::bits_per_weight);
  return out;
}

/// KL of each candidate: measured where few bits make it large, else from the weights' error.
Result<Matrix> cost(SensitivityMeter& meter, const SourceTensor& tensor,
                    const std::vector<TargetFormat>& candidates) {
  Matrix out{tensor.name, {}, {}};
  double kl = 0, error = 0;
  for (const TargetFormat& format : fitting(candidates, tensor.row_length())) {
    const Replacement r{tensor.name, format};
    TANDEM_TRY(const double weight_error, meter.weight_error(r));
    double loss = error > 0 ? kl * weight_error / error : 0;
    if (format.bits_per_weight() <= kMeasuredBits || error == 0) {
      TANDEM_TRY(loss, meter.measure({&r, 1}));
      kl = loss = std::max(loss, kSmallestKl);
      error = weight_error;
    }
    out.formats.push_back(format);
    out.costs.push_back({bytes_in(tensor, format), loss});
  }
  return out;
}

struct Measured {
  std::vector<Matrix> matrices;
  std::vector<TensorCosts> costs;
  uint64_t fixed_bytes = 0;  ///< of vectors, in F32
  uint64_t n_weights = 0;
};

Result<Measured> measure_all(SensitivityMeter& meter, const WeightSource& source,
                             const MixedOptions& options) {
  Measured out;
  uint64_t n_done = 0;
  for (const SourceTensor& tensor : source.tensors()) {
    out.n_weights += tensor.n_elements();
    if (!is_matrix(tensor)) {
      out.fixed_bytes += 4 * tensor.n_elements();
    } else {
      TANDEM_TRY(Matrix matrix, cost(meter, tensor, options.candidates));
      out.costs.push_back(matrix.costs);
      out.matrices.push_back(std::move(matrix));
    }
    if (options.progress) options.progress(++n_done, source.tensors().size());
  }
  return out;
}

MixedPlan plan_of(const Measured& measured, const Allocation& allocation) {
  MixedPlan out;
  for (size_t i = 0; i < allocation.size(); ++i) {
    const Matrix& m = measured.matrices[i];
    out.choices.push_back({m.name, m.formats[allocation[i]], m.costs[allocation[i]].loss});
  }
  out.predicted_kl = loss_of(measured.costs, allocation);
  return out;
}

Result<void> measure_plan(SensitivityMeter& meter, MixedPlan& plan) {
  std::vector<Replacement> replaced;
  for (const MixedChoice& c : plan.choices) replaced.push_back({c.name, c.format});
  TANDEM_TRY(plan.measured_kl, meter.measure(replaced));
  return {};
}

Result<MixedPlan> within_budget(SensitivityMeter& meter, const Measured& measured,
                                double bits_per_weight) {
  const double budget = bits_per_weight * static_cast<double>(measured.n_weights) / 8;
  const double left = budget - static_cast<double>(measured.fixed_bytes);
  const Allocation choice =
      allocate_within(measured.costs, left > 0 ? static_cast<uint64_t>(left) : 0);
  const double smallest = static_cast<double>(bytes_of(measured.costs, choice));
  if (smallest > left) {
    return failure(ErrorCode::kInvalidArgument,
                   "a budget of {} bits a weight cannot be met: the smallest formats take {:.3f}",
                   bits_per_weight,
                   8 * (smallest + static_cast<double>(measured.fixed_bytes)) /
                       static_cast<double>(measured.n_weights));
  }
  MixedPlan plan = plan_of(measured, choice);
  TANDEM_TRY(measure_plan(meter, plan));
  return plan;
}

/// Losses are not quite additive, so the bound on their sum is tightened until the measured KL
/// keeps it.
Result<MixedPlan> below_kl(SensitivityMeter& meter, const Measured& measured, double max_kl) {
  double bound = max_kl;
  MixedPlan plan;
  for (int i = 0; i < kTightenings; ++i) {
    plan = plan_of(measured, allocate_below(measured.costs, bound));
    TANDEM_TRY(measure_plan(meter, plan));
    if (plan.measured_kl <= max_kl) return plan;
    bound *= 0.9 * max_kl / plan.measured_kl;
  }
  return failure(ErrorCode::kInvalidArgument,
                 "a KL of {} cannot be met: the nearest choice measures {:.6f}", max_kl,
                 plan.measured_kl);
}

}  // namespace

Result<MixedPlan> choose_formats(SensitivityMeter& meter, const WeightSource& source,
                                 const MixedOptions& options) {
  TANDEM_TRY(const Measured measured, measure_all(meter, source, options));
  if (options.bits_per_weight) return within_budget(meter, measured, *options.bits_per_weight);
  return below_kl(meter, measured, options.max_kl.value_or(0.01));
}

void describe_choices(const MixedPlan& plan, Metadata& metadata) {
  std::vector<std::string> names, formats;
  std::vector<float> kl;
  for (const MixedChoice& c : plan.choices) {
    names.push_back(c.name);
    formats.push_back(c.format.name());
    kl.push_back(static_cast<float>(c.kl));
  }
  metadata.set("tandem.mixed.tensors", std::move(names));
  metadata.set("tandem.mixed.formats", std::move(formats));
  metadata.set("tandem.mixed.kl", std::move(kl));
  metadata.set("tandem.mixed.measured_kl", static_cast<float>(plan.measured_kl));
}

}  // namespace tandem
