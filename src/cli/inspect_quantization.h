#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/inspect_report.h"

namespace tandem::cli {

/// What conversion decided and measured, where a file says so: planes and exponents of nested
/// weights, formats chosen by measurement, ranges and outliers of linears' inputs. Tensors are
/// listed as far as they pass the filter. Empty for a file without any of it.
std::string quantization_text(const ModelFile& model, const InspectOptions& options);

/// The same for programs: `nested`, `mixed` and `activations` of the schema tandem.inspect.v1, each
/// null where the file has none, or {"error": ...} where its keys contradict each other.
nlohmann::ordered_json quantization_json(const ModelFile& model, const InspectOptions& options);

}  // namespace tandem::cli
