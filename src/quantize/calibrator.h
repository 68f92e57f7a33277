#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "engine/engine.h"
#include "quantize/importance.h"

namespace tandem {

struct CalibrationOptions {
  int n_threads = 0;
  uint32_t window = 512;                      ///< tokens of a document computed in one context
  uint32_t max_tokens = 16384;                ///< the text is cut there
  uint64_t moment_bytes = uint64_t{1} << 30;  ///< second moments held at a time
  std::function<void(uint64_t done, uint64_t total)> progress = {};
};

/// Runs a model over a text and watches the inputs of its linears.
///
///   TANDEM_TRY(auto calibrator, Calibrator::create(model, text, {}));
///   TANDEM_TRY(auto seen, calibrator->statistics("blk.0.ffn_down.weight", WithMoments::kYes));
///
/// The first pass over the text finds the plain statistics of all inputs. Second moments take K^2
/// floats each, so they are found on demand, for as many inputs in the model's order as fit, in
/// further passes. One thread's.
class Calibrator {
 public:
  /// `text` is cut into documents at lines that hold only U+001E. Errors: kInvalidArgument for a
  /// model without a tokenizer or a text of fewer than 16 tokens; kNumeric naming the node where
  /// the model itself gives NaN.
  static Result<std::unique_ptr<Calibrator>> create(std::shared_ptr<const Model> model,
                                                    const std::string& text,
                                                    const CalibrationOptions& options);
  ~Calibrator();

  /// Of the input that the weight reads; null for a weight that no linear reads (an embedding).
  std::shared_ptr<const InputStatistics> statistics(const std::string& weight) const;
  /// The same with second moments. Valid until moments of another input are asked for.
  Result<std::shared_ptr<const InputStatistics>> with_moments(const std::string& weight);

  /// Every input once, in the model's order.
  std::vector<std::shared_ptr<const InputStatistics>> inputs() const;
  uint64_t n_tokens() const;
  /// Mean negative logarithm of the text's next tokens' probability, in nats.
  double mean_loss() const { return mean_loss_; }

 private:
  class Observer;

  Calibrator() = default;
  Result<void> run_text();

  std::shared_ptr<const Model> model_;
  CalibrationOptions options_;
  std::vector<std::vector<TokenId>> windows_;
  std::unique_ptr<Observer> observer_;
  std::shared_ptr<Engine> engine_;
  double mean_loss_ = 0;
};

}  // namespace tandem
