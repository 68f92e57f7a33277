#pragma once

#include <optional>
#include <string>
#include <vector>

#include "published/rows.h"
#include "soc/cost.h"
#include "soc/model_work.h"

namespace tandem::published {

/// What the simulator says about a row's measurement.
struct Prediction {
  double prefill_tok_s = 0;
  double decode_tok_s = 0;
  bool guessed_sizes = false;  ///< the model is not known; sizes are guess_sizes()
  double prefill_j_tok = 0;    ///< of the row's scope: whole device, or rails
  double decode_j_tok = 0;
};

/// Simulates the row's run on `soc` (its variant applied): a prompt in chunks of the unit's
/// prefill_chunk, then a token at the end of the prompt. Errors: kUnsupported for units together or
/// a unit the profile lacks, kInvalidArgument for a model whose shape is not known.
Result<Prediction> predict(const soc::SocProfile& soc, const Row& row);

/// A published figure beside the simulator's.
struct Comparison {
  size_t row;            ///< index
  std::string quantity;  ///< "prefill tok/s", "decode tok/s", "prefill mJ/tok", "decode mJ/tok"
  double published;
  double simulated;
  bool judged;
  bool energy;
  bool guessed_sizes;  ///< see Prediction

  double error() const { return simulated / published - 1; }
};

/// The figures of `row` with their predictions.
std::vector<Comparison> compare(const Row& row, size_t index, const Prediction& prediction);

/// Median and largest absolute error of the judged figures.
struct Summary {
  size_t speed_count = 0;
  double speed_median = 0;
  double speed_worst = 0;
  size_t energy_count = 0;
  double energy_median = 0;
  double energy_worst = 0;
};
Summary summarize(const std::vector<Comparison>& comparisons);

}  // namespace tandem::published
