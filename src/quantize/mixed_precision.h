#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "quantize/allocation.h"
#include "quantize/sensitivity.h"

namespace tandem {

struct MixedOptions {
  std::optional<double> bits_per_weight = std::nullopt;  ///< of all tensors together; or
  std::optional<double> max_kl = std::nullopt;  ///< nats, measured with all choices at once
  /// What a matrix may become, or the format with smaller blocks where its rows are no whole ones:
  /// INT2 (Q2_K, Q2_0), 3 to 6 bits, INT4, INT8 (both planes) and F16. Those of at most 5 bits are
  /// measured, the others' KL is that of the last measured one times the ratio of squared weight
  /// errors (KL grows with the square of a small change).
  std::vector<TargetFormat> candidates = {
      {DType::kQ2_K, false}, {DType::kQ3_K, false}, {DType::kQ4_0, false}, {DType::kQ4_K, false},
      {DType::kQ5_K, false}, {DType::kQ6_K, false}, {DType::kQ4_0, true},  {DType::kF16, false}};
  std::function<void(uint64_t done, uint64_t total)> progress = {};
};

/// One matrix and its format.
struct MixedChoice {
  std::string name;
  TargetFormat format;
  double kl = 0;  ///< that it adds alone
};

struct MixedPlan {
  std::vector<MixedChoice> choices;
  double predicted_kl = 0;  ///< sum over the choices
  double measured_kl = 0;   ///< of all together
};

/// Measures each matrix of the model and chooses. Errors: kInvalidArgument when the bound cannot be
/// met, with the nearest that can.
Result<MixedPlan> choose_formats(SensitivityMeter& meter, const WeightSource& source,
                                 const MixedOptions& options);

/// Stores the choices under tandem.mixed.* (docs/convert.md).
void describe_choices(const MixedPlan& plan, Metadata& metadata);

}  // namespace tandem
