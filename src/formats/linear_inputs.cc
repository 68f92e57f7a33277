// The keys tandem.activations.*, written by calibration and read by whoever plans for a device.

#include "formats/linear_inputs.h"

#include <algorithm>
#include <cmath>

namespace tandem {
namespace {

constexpr char kWeights[] = "tandem.activations.weights";
constexpr char kMinimum[] = "tandem.activations.minimum";
constexpr char kMaximum[] = "tandem.activations.maximum";
constexpr char kCounts[] = "tandem.activations.n_outliers";
constexpr char kChannels[] = "tandem.activations.outlier_channels";
constexpr char kFactor[] = "tandem.activations.outlier_factor";
constexpr char kWide[] = "tandem.activations.wide";

Result<void> check_length(const Metadata& metadata, const char* key, size_t found,
                          size_t expected) {
  if (found == expected) return {};
  return failure(ErrorCode::kCorruptFile, "{}: {} has {} elements, {} are due", metadata.source(),
                 key, found, expected);
}

Result<void> check_range(const Metadata& metadata, const LinearInput& input) {
  const bool finite = std::isfinite(input.minimum) && std::isfinite(input.maximum);
  if (finite && input.minimum <= input.maximum) return {};
  return failure(ErrorCode::kCorruptFile, "{}: the input of '{}' ranges from {} to {}",
                 metadata.source(), input.weight, input.minimum, input.maximum);
}

/// The channels of all inputs, one after the other, to each its own.
Result<void> hand_out_channels(const Metadata& metadata, LinearInputs& out) {
  TANDEM_TRY(const auto counts, metadata.integers(kCounts));
  TANDEM_TRY(const auto channels, metadata.integers(kChannels));
  TANDEM_TRY(check_length(metadata, kCounts, counts.size(), out.inputs.size()));
  uint64_t total = 0;
  for (const int32_t n : counts) {
    if (n < 0) {
      return failure(ErrorCode::kCorruptFile, "{}: {} has the element {}", metadata.source(),
                     kCounts, n);
    }
    total += static_cast<uint64_t>(n);
  }
  TANDEM_TRY(check_length(metadata, kChannels, channels.size(), total));
  auto next = channels.begin();
  for (size_t i = 0; i < counts.size(); ++i) {
    out.inputs[i].outlier_channels.assign(next, next + counts[i]);
    next += counts[i];
  }
  return {};
}

}  // namespace

const LinearInput* LinearInputs::find(std::string_view weight) const {
  const auto found = std::ranges::find(inputs, weight, &LinearInput::weight);
  return found == inputs.end() ? nullptr : &*found;
}

Result<LinearInputs> read_linear_inputs(const Metadata& metadata) {
  LinearInputs out;
  if (!metadata.contains(kWeights)) return out;
  TANDEM_TRY(const auto weights, metadata.strings(kWeights));
  TANDEM_TRY(const auto minima, metadata.floats(kMinimum));
  TANDEM_TRY(const auto maxima, metadata.floats(kMaximum));
  TANDEM_TRY(out.outlier_factor, metadata.f32_or(kFactor, 0.0f));
  TANDEM_TRY(check_length(metadata, kMinimum, minima.size(), weights.size()));
  TANDEM_TRY(check_length(metadata, kMaximum, maxima.size(), weights.size()));
  std::vector<std::string> wide;
  if (metadata.contains(kWide)) {
    TANDEM_TRY(wide, metadata.strings(kWide));
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    const bool is_wide = std::ranges::find(wide, weights[i]) != wide.end();
    out.inputs.push_back({weights[i], minima[i], maxima[i], {}, is_wide});
    TANDEM_TRY(check_range(metadata, out.inputs.back()));
  }
  TANDEM_TRY(hand_out_channels(metadata, out));
  return out;
}

void store_linear_inputs(const LinearInputs& inputs, Metadata& metadata) {
  std::vector<std::string> weights, wide;
  std::vector<float> minima, maxima;
  std::vector<uint32_t> counts, channels;
  for (const LinearInput& input : inputs.inputs) {
    weights.push_back(input.weight);
    minima.push_back(input.minimum);
    maxima.push_back(input.maximum);
    counts.push_back(static_cast<uint32_t>(input.outlier_channels.size()));
    channels.insert(channels.end(), input.outlier_channels.begin(), input.outlier_channels.end());
    if (input.wide) wide.push_back(input.weight);
  }
  metadata.set(kWeights, std::move(weights));
  metadata.set(kMinimum, std::move(minima));
  metadata.set(kMaximum, std::move(maxima));
  metadata.set(kCounts, std::move(counts));
  metadata.set(kChannels, std::move(channels));
  metadata.set(kFactor, inputs.outlier_factor);
  if (!wide.empty()) metadata.set(kWide, std::move(wide));
}

}  // namespace tandem
