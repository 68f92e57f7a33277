// Runs a published measurement on the simulator.

#include "published/prediction.h"

#include <algorithm>
#include <cmath>

#include "published/model_sizes.h"

namespace tandem::published {
namespace {

using soc::NumericType;

constexpr double kCpuScaleBits = 0.5;  ///< a 16-bit scale for each 32 weights

struct Formats {
  soc::WorkTypes types;
  double head_bits;
  NumericType head_weights;
};

/// Storage of the published runs. Four bits and fewer carry a 16-bit scale for each 64 weights;
/// two-bit weights do not extend to the head, which takes eight.
Result<Formats> formats_of(const Row& row, double scale_bits) {
  const NumericType activations = row.activations.value_or(NumericType::kInt8);
  Formats out{};
  out.types.activations = activations;
  out.types.state = NumericType::kFp16;
  if (row.weight_bits == "16") {
    const bool is_float = !soc::is_integer(activations);
    out.types.weights = is_float ? activations : NumericType::kFp16;
    out.types.weight_bits = 16;
  } else if (row.weight_bits == "8") {
    out.types.weights = NumericType::kInt8;
    out.types.weight_bits = 8;
  } else if (row.weight_bits == "2") {
    out.types.weights = NumericType::kInt2;
    out.types.weight_bits = 2 + scale_bits;
  } else if (row.weight_bits == "4") {
    out.types.weights = NumericType::kInt4;
    out.types.weight_bits = 4 + scale_bits;
  } else {
    return failure(ErrorCode::kUnsupported, "weight_bits \"{}\" is not 2, 4, 8 or 16",
                   row.weight_bits);
  }
  const bool tiny = out.types.weights == NumericType::kInt2;
  out.head_weights = tiny ? NumericType::kInt8 : out.types.weights;
  out.head_bits = tiny ? 8 : out.types.weight_bits;
  return out;
}

/// Runs steps of one model on the row's unit.
class Runner {
 public:
  Runner(const soc::SocProfile& soc, const Row& row, const soc::ModelSizes& model,
         const Formats& formats)
      : soc_(soc), on_cpu_(row.unit == "cpu"), model_(model), formats_(formats) {
    if (on_cpu_) return;
    const soc::NpuProfile& npu = soc.npus[0];
    conditions_.launches = npu.launches_per_step + npu.launches_per_layer * model.n_layers;
  }

  soc::SegmentCost step(uint64_t n_tokens, uint64_t context, bool with_head) const {
    const soc::StepWork step{.n_tokens = n_tokens,
                             .context = context,
                             .with_head = with_head,
                             .head_bits = formats_.head_bits,
                             .head_weights = formats_.head_weights};
    const std::vector<soc::Work> list = soc::model_work(model_, formats_.types, step);
    return on_cpu_ ? soc::cpu_cost(soc_, list, conditions_)
                   : soc::npu_cost(soc_, soc_.npus[0], list, conditions_);
  }

  uint64_t chunk() const { return on_cpu_ ? kCpuChunk : soc_.npus[0].prefill_chunk; }
  /// Rows that a chunk of so many tokens costs: an NPU's graph computes all of its own.
  uint64_t rows(uint64_t n_tokens) const { return on_cpu_ ? n_tokens : chunk(); }

 private:
  static constexpr uint64_t kCpuChunk = 512;

  const soc::SocProfile& soc_;
  bool on_cpu_;
  const soc::ModelSizes& model_;
  const Formats& formats_;
  soc::Conditions conditions_;
};

struct Model {
  soc::ModelSizes sizes;
  bool is_guess;
};

Result<Model> model_of(const Row& row) {
  const auto known = find_sizes(row.model);
  if (known) return Model{*known, false};
  if (row.n_weights) return Model{guess_sizes(*row.n_weights), true};
  return tl::unexpected(known.error());
}

double joules(const soc::SegmentCost& cost, bool rails_only) {
  return rails_only ? cost.energy.rails() : cost.energy.device();
}

}  // namespace

Result<Prediction> predict(const soc::SocProfile& profile, const Row& row) {
  if (row.unit != "cpu" && row.unit != "npu") {
    return failure(ErrorCode::kUnsupported, "unit \"{}\" is not simulated alone", row.unit);
  }
  if (row.unit == "npu" && profile.npus.empty()) {
    return failure(ErrorCode::kUnsupported, "{} has no NPU", profile.name);
  }
  TANDEM_TRY(const Model model, model_of(row));
  const bool on_npu = row.unit == "npu";
  TANDEM_TRY(const Formats formats,
             formats_of(row, on_npu ? profile.npus[0].scale_bits : kCpuScaleBits));
  const Runner runner(profile, row, model.sizes, formats);
  const auto prompt = static_cast<uint64_t>(row.prompt_tokens);
  double seconds = 0;
  double energy = 0;
  for (uint64_t done = 0; done < prompt;) {
    const uint64_t n_tokens = std::min(prompt - done, runner.chunk());
    const uint64_t rows = runner.rows(n_tokens);
    const bool is_last = done + n_tokens == prompt;
    const soc::SegmentCost cost = runner.step(rows, done + rows, is_last);
    seconds += cost.seconds;
    energy += joules(cost, row.rails_only);
    done += n_tokens;
  }
  const soc::SegmentCost decode = runner.step(1, prompt, true);
  return Prediction{.prefill_tok_s = double(prompt) / seconds,
                    .decode_tok_s = 1 / decode.seconds,
                    .guessed_sizes = model.is_guess,
                    .prefill_j_tok = energy / double(prompt),
                    .decode_j_tok = joules(decode, row.rails_only)};
}

std::vector<Comparison> compare(const Row& row, size_t index, const Prediction& prediction) {
  std::vector<Comparison> out;
  const auto add = [&](const char* quantity, std::optional<double> published, double simulated,
                       bool judged, bool energy) {
    if (!published) return;
    out.push_back(
        {index, quantity, *published, simulated, judged, energy, prediction.guessed_sizes});
  };
  add("prefill tok/s", row.prefill_tok_s, prediction.prefill_tok_s, row.judge_speed, false);
  add("decode tok/s", row.decode_tok_s, prediction.decode_tok_s, row.judge_speed, false);
  add("prefill J/tok", row.prefill_j_tok, prediction.prefill_j_tok, row.judge_energy, true);
  add("decode J/tok", row.decode_j_tok, prediction.decode_j_tok, row.judge_energy, true);
  return out;
}

namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

Summary summarize(const std::vector<Comparison>& comparisons) {
  std::vector<double> speed;
  std::vector<double> energy;
  for (const Comparison& c : comparisons) {
    if (c.judged) (c.energy ? energy : speed).push_back(std::abs(c.error()));
  }
  const auto largest = [](const std::vector<double>& values) {
    return values.empty() ? 0.0 : *std::max_element(values.begin(), values.end());
  };
  return {speed.size(),  median(speed),  largest(speed),
          energy.size(), median(energy), largest(energy)};
}

}  // namespace tandem::published
