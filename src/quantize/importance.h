#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace tandem {

/// What is known of the inputs of one or several weights (attention's three share theirs).
struct InputStatistics {
  std::string value;                ///< name of the activation, "layers.0.attention_norm"
  uint64_t n_rows = 0;              ///< tokens seen
  std::vector<double> sum_squares;  ///< (K)
  std::vector<float> largest;       ///< (K): max |x|; empty when unknown
  float minimum = 0, maximum = 0;   ///< over all channels; both 0 when unknown
  std::vector<float> moments;       ///< (K, K): sum of x x^T; empty unless asked for

  /// Mean square of each channel: how much a weight's squared error matters.
  std::vector<float> importance() const;
  /// Channels whose largest magnitude is at least `factor` times the rms of all, rising.
  std::vector<uint32_t> outliers(float factor) const;
};

/// Statistics by the name of the weight that reads the input.
using Statistics = std::map<std::string, std::shared_ptr<const InputStatistics>, std::less<>>;

/// Reads an importance matrix that llama.cpp wrote as GGUF (general.type "imatrix"; tensors
/// NAME.in_sum2 and NAME.counts). For several matrices in one tensor (experts) the sums are added.
/// Errors: kCorruptFile naming file and tensor; kUnsupported for the older format, which is no GGUF
/// file.
Result<Statistics> load_imatrix(const std::string& path);

}  // namespace tandem
