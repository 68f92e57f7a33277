// Measured figures by name: of an evaluation, or read from a file.

#include "evaluation/metric_values.h"

#include <nlohmann/json.hpp>

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "tandem.metrics.v1";

bool has_metrics(const Json& document) {
  if (!document.is_object()) return false;
  const auto schema = document.find("schema");
  const auto metrics = document.find("metrics");
  return schema != document.end() && *schema == kSchema && metrics != document.end() &&
         metrics->is_object();
}

void add_text_metrics(const TextReport& text, std::map<std::string, std::optional<double>>& out) {
  if (!text.figures) {
    out["perplexity"] = std::nullopt;
    return;
  }
  const TextFigures& f = *text.figures;
  out["perplexity"] = f.perplexity.value;
  out["bits_per_byte"] = f.bits_per_byte;
  if (!f.divergence) return;
  out["kl_mean"] = f.divergence->mean.value;
  out["kl_median"] = f.divergence->median.value;
  out["kl_percentile_99"] = f.divergence->percentile_99.value;
  out["kl_max"] = f.divergence->max;
  out["same_top"] = f.divergence->same_top.value;
  out["perplexity_ratio"] = f.divergence->perplexity_ratio.value;
}

}  // namespace

MetricValues metrics_of(const EvaluationReport& report) {
  MetricValues out;
  auto& size = out["size"];
  size["file_bytes"] = static_cast<double>(report.size.file_bytes);
  size["tensor_bytes"] = static_cast<double>(report.size.tensor_bytes);
  size["bits_per_weight"] = report.size.bits_per_weight();
  if (report.text) {
    add_text_metrics(*report.text, out["accuracy"]);
    if (report.text->figures && report.text->seconds > 0) {
      out["speed"]["scored_per_second"] =
          static_cast<double>(report.text->figures->n_scored) / report.text->seconds;
    }
  }
  for (const TaskFigures& task : report.tasks) out["accuracy"][task.name] = task.accuracy;
  return out;
}

Result<void> read_metrics(const std::string& path, std::string_view text, MetricValues& out) {
  const Json document = Json::parse(text, nullptr, false);
  if (!has_metrics(document)) {
    return failure(ErrorCode::kCorruptFile, "{}: not a file of figures (schema {})", path, kSchema);
  }
  for (const auto& [section, metrics] : document.at("metrics").items()) {
    if (!metrics.is_object()) {
      return failure(ErrorCode::kCorruptFile, "{}: metrics.{} must be an object", path, section);
    }
    for (const auto& [name, value] : metrics.items()) {
      if (!value.is_number() && !value.is_null()) {
        return failure(ErrorCode::kCorruptFile, "{}: metrics.{}.{} must be a number or null", path,
                       section, name);
      }
      out[section][name] = value.is_null() ? std::nullopt : std::optional(value.get<double>());
    }
  }
  return {};
}

}  // namespace tandem
