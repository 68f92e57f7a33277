#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/model.h"
#include "quantize/calibrator.h"
#include "quantize/target_format.h"
#include "quantize/tensor_encoder.h"

namespace tandem {

/// Some tensors of a model in other formats than the rest.
struct Replacement {
  std::string name;
  TargetFormat format;
};

/// Measures what quantizing does to a model's next-token probabilities on a text: the mean of
/// KL(original || changed) over positions, in nats.
class SensitivityMeter {
 public:
  struct Options {
    int n_threads = 0;
    uint32_t window = 256;      ///< tokens in one context
    uint32_t max_tokens = 512;  ///< of the text
    /// Importance and feedback for 4-bit formats, as in the final conversion; null: none.
    Calibrator* calibrator = nullptr;
    NestedSettings nested = {};
  };

  /// `model` is the original, opened from `source`; both outlive the meter. Errors: as
  /// Calibrator::create.
  static Result<std::unique_ptr<SensitivityMeter>> create(std::shared_ptr<const Model> model,
                                                          const WeightSource& source,
                                                          const std::string& text,
                                                          const Options& options);
  ~SensitivityMeter();

  /// KL with these tensors replaced.
  Result<double> measure(std::span<const Replacement> replaced);
  /// Relative squared error of a tensor's weights in a format.
  Result<double> weight_error(const Replacement& replaced);

 private:
  SensitivityMeter(const WeightSource& source, const Options& options, int n_threads)
      : source_(source), options_(options), encoder_(n_threads) {}
  using Visit = std::function<void(size_t position, std::span<const float> logits)>;
  Result<void> run(std::shared_ptr<const Model> model, const Visit& visit) const;
  Result<EncodedTensor> encode(const Replacement& replaced);

  const WeightSource& source_;
  Options options_;
  TensorEncoder encoder_;
  std::shared_ptr<const Model> model_;
  std::vector<std::vector<TokenId>> windows_;
  std::vector<float> reference_;  ///< (positions, vocabulary) logarithms of probabilities
};

}  // namespace tandem
