#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "evaluation/evaluation.h"

namespace tandem {

/// Figures that were measured, by section and name. Nothing: it could not be measured.
using MetricValues = std::map<std::string, std::map<std::string, std::optional<double>>>;

/// The figures of an evaluation: sections accuracy, size and speed.
MetricValues metrics_of(const EvaluationReport& report);

/// Adds the figures of a file of schema tandem.metrics.v1, as other programs write it:
/// {"schema": ..., "metrics": {section: {name: number or null}}}.
Result<void> read_metrics(const std::string& path, std::string_view text, MetricValues& out);

}  // namespace tandem
