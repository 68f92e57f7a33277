#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "formats/weight_source.h"
#include "quantize/calibrator.h"
#include "quantize/importance.h"
#include "quantize/target_format.h"
#include "quantize/tensor_encoder.h"

namespace tandem {

/// What to make of a model (`tandem convert`, docs/convert.md).
struct ConvertOptions {
  FormatChoice formats = {};
  NestedSettings nested = {};
  std::string sidecar =
      {};  ///< path of a second file for the low planes; empty: behind the tensors
  const Statistics* importance = nullptr;  ///< from a file, by weight
  Calibrator* calibrator = nullptr;        ///< or measured
  /// Channels whose largest magnitude is this many times the input's rms are stored as outliers.
  float outlier_factor = 20.0f;
  std::vector<std::string> wide_activations = {};  ///< patterns of weights that want 16-bit inputs
  int n_threads = 0;
  std::function<void(uint64_t done, uint64_t total)> progress = {};
};

/// One tensor of the result.
struct ConvertedTensor {
  std::string name;
  std::string from;  ///< as the source calls its type
  std::string to;    ///< "nested", "Q6_K"
  uint64_t n_weights = 0;
  uint64_t n_bytes = 0;
  uint32_t shift = 0;     ///< e of a nested tensor
  bool weighted = false;  ///< importance was used
  double error_high = 0;  ///< root of summed squared error over summed squares, of the high plane
  double error_both = 0;  ///< of both planes; of other formats the same
};

struct ConvertReport {
  std::vector<ConvertedTensor> tensors;
  /// Matrices that became something else than asked for, since their rows are no whole blocks.
  std::vector<std::string> fallbacks;
  /// Matrices whose importance is missing from what was given.
  std::vector<std::string> without_importance;
  uint64_t n_weights() const;
  uint64_t n_bytes() const;  ///< of all tensors
  double bits_per_weight() const;
};

/// Writes `source` in new formats to `path`, atomically; holds one tensor at a time. The same input
/// and options give the same bytes, whatever the number of threads. `metadata` is written instead
/// of the source's. Errors name tensor, row and value.
Result<ConvertReport> convert(const WeightSource& source, const std::string& path,
                              Metadata metadata, const ConvertOptions& options);

/// Copies a nested file without its low planes: the Q4_0 model that it is.
Result<ConvertReport> strip_low_planes(const WeightSource& source, const std::string& path,
                                       const ConvertOptions& options);

/// Copies a file and gives each Q4_0 tensor a low plane that refines it towards `original`, which
/// must have tensors of the same names and shapes; e is the better one for each. Errors:
/// kInvalidArgument naming a tensor that `original` lacks or has in another shape, or when there is
/// no Q4_0 tensor.
Result<ConvertReport> add_refinement(const WeightSource& source, const WeightSource& original,
                                     const std::string& path, const ConvertOptions& options);

/// Stores the range of every linear's input, its outlier channels and the wish for 16 bits under
/// tandem.activations.* (docs/convert.md).
void describe_activations(const Calibrator& calibrator, const WeightSource& source,
                          const ConvertOptions& options, Metadata& metadata);

}  // namespace tandem
