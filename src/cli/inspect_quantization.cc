// What `tandem inspect` says about a file's precision.

#include "cli/inspect_quantization.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "cli/text_table.h"
#include "formats/linear_inputs.h"

namespace tandem::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kShortChannels = 6;

struct NestedTotals {
  uint64_t n_tensors = 0, low_bytes = 0;
  double bits_per_weight = 0;                   ///< of all tensors, both planes
  std::vector<const TensorView*> tensors = {};  ///< that pass the filter
};

NestedTotals nested_totals(const ModelFile& model, const InspectOptions& options) {
  NestedTotals out;
  uint64_t n_weights = 0;
  for (const TensorView& tensor : model.tensors) {
    n_weights += tensor.n_elements();
    if (tensor.nested == nullptr) continue;
    ++out.n_tensors;
    out.low_bytes += tensor.nested->low.size();
    if (passes_filter(tensor.name, options.filter)) out.tensors.push_back(&tensor);
  }
  if (n_weights > 0) {
    out.bits_per_weight = 8.0 * static_cast<double>(model.tensor_bytes() + out.low_bytes) /
                          static_cast<double>(n_weights);
  }
  return out;
}

/// One matrix whose format was chosen by measurement (docs/convert.md, "Mixed precision").
struct Choice {
  std::string tensor, format;
  float kl = 0;
};
struct Choices {
  float measured_kl = 0;
  std::vector<Choice> choices = {};
};

Result<Choices> read_choices(const Metadata& metadata) {
  Choices out;
  if (!metadata.contains("tandem.mixed.tensors")) return out;
  TANDEM_TRY(const auto tensors, metadata.strings("tandem.mixed.tensors"));
  TANDEM_TRY(const auto formats, metadata.strings("tandem.mixed.formats"));
  TANDEM_TRY(const auto kl, metadata.floats("tandem.mixed.kl"));
  TANDEM_TRY(out.measured_kl, metadata.f32("tandem.mixed.measured_kl"));
  if (formats.size() != tensors.size() || kl.size() != tensors.size()) {
    return failure(ErrorCode::kCorruptFile,
                   "{}: tandem.mixed.* have {} tensors, {} formats and {} divergences",
                   metadata.source(), tensors.size(), formats.size(), kl.size());
  }
  for (size_t i = 0; i < tensors.size(); ++i)
    out.choices.push_back({tensors[i], formats[i], kl[i]});
  return out;
}

/// "3, 17, 40" or "3, 17, ... (12)"
std::string channels_text(std::span<const uint32_t> channels, bool full) {
  if (channels.empty()) return "-";
  const size_t n = full ? channels.size() : std::min(channels.size(), kShortChannels);
  std::string out = fmt::format("{}", fmt::join(channels.first(n), ", "));
  if (n < channels.size()) out += fmt::format(", ... ({})", channels.size());
  return out;
}

std::string nested_text(const NestedTotals& totals) {
  if (totals.n_tensors == 0) return "";
  TextTable table("lr");
  table.add({"tensor", "e"});
  for (const TensorView* tensor : totals.tensors) {
    table.add({tensor->name, std::to_string(tensor->nested->shift)});
  }
  return fmt::format(
             "\nnested ({} tensors, {} bytes of low planes, {:.3f} bits per weight with them)\n",
             totals.n_tensors, totals.low_bytes, totals.bits_per_weight) +
         table.to_string(2);
}

std::string choices_text(const Result<Choices>& read, const InspectOptions& options) {
  if (!read) return "\nmixed precision: " + read.error().message + "\n";
  if (read->choices.empty()) return "";
  TextTable table("llr");
  table.add({"tensor", "format", "KL alone"});
  for (const Choice& c : read->choices) {
    if (passes_filter(c.tensor, options.filter)) {
      table.add({c.tensor, c.format, fmt::format("{:.2e}", c.kl)});
    }
  }
  return fmt::format("\nmixed precision ({} tensors, KL of all together {:.2e})\n",
                     read->choices.size(), read->measured_kl) +
         table.to_string(2);
}

std::string activations_text(const Result<LinearInputs>& read, const InspectOptions& options) {
  if (!read) return "\nactivations: " + read.error().message + "\n";
  if (read->inputs.empty()) return "";
  TextTable table("lrrrrl");
  table.add({"input of", "minimum", "maximum", "int8 scale", "bits", "outlier channels"});
  for (const LinearInput& input : read->inputs) {
    if (!passes_filter(input.weight, options.filter)) continue;
    table.add({input.weight, fmt::format("{:.4g}", input.minimum),
               fmt::format("{:.4g}", input.maximum), fmt::format("{:.4g}", input.static_scale(127)),
               input.wide ? "16" : "8", channels_text(input.outlier_channels, options.full)});
  }
  return fmt::format("\nactivations ({} inputs; outliers from {:g} times the rms)\n",
                     read->inputs.size(), read->outlier_factor) +
         table.to_string(2);
}

Json nested_json(const NestedTotals& totals) {
  if (totals.n_tensors == 0) return nullptr;
  Json out{{"tensors", totals.n_tensors},
           {"low_bytes", totals.low_bytes},
           {"bits_per_weight", totals.bits_per_weight}};
  out["exponents"] = Json::object();
  for (const TensorView* tensor : totals.tensors) {
    out["exponents"][tensor->name] = tensor->nested->shift;
  }
  return out;
}

Json choices_json(const Result<Choices>& read, const InspectOptions& options) {
  if (!read) return {{"error", read.error().message}};
  if (read->choices.empty()) return nullptr;
  Json out{{"measured_kl", read->measured_kl}, {"tensors", Json::array()}};
  for (const Choice& c : read->choices) {
    if (!passes_filter(c.tensor, options.filter)) continue;
    out["tensors"].push_back({{"name", c.tensor}, {"format", c.format}, {"kl", c.kl}});
  }
  return out;
}

Json activations_json(const Result<LinearInputs>& read, const InspectOptions& options) {
  if (!read) return {{"error", read.error().message}};
  if (read->inputs.empty()) return nullptr;
  Json out{{"outlier_factor", read->outlier_factor}, {"inputs", Json::array()}};
  for (const LinearInput& input : read->inputs) {
    if (!passes_filter(input.weight, options.filter)) continue;
    out["inputs"].push_back({{"weight", input.weight},
                             {"minimum", input.minimum},
                             {"maximum", input.maximum},
                             {"int8_scale", input.static_scale(127)},
                             {"bits", input.wide ? 16 : 8},
                             {"outlier_channels", input.outlier_channels}});
  }
  return out;
}

}  // namespace

std::string quantization_text(const ModelFile& model, const InspectOptions& options) {
  return nested_text(nested_totals(model, options)) +
         choices_text(read_choices(model.metadata), options) +
         activations_text(read_linear_inputs(model.metadata), options);
}

Json quantization_json(const ModelFile& model, const InspectOptions& options) {
  return {{"nested", nested_json(nested_totals(model, options))},
          {"mixed", choices_json(read_choices(model.metadata), options)},
          {"activations", activations_json(read_linear_inputs(model.metadata), options)}};
}

}  // namespace tandem::cli
