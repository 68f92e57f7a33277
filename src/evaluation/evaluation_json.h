#pragma once

#include <nlohmann/json.hpp>

#include "evaluation/evaluation.h"

namespace tandem {

/// The document of schema tandem.eval.v1 (docs/evaluation.md). Never holds NaN or infinity: what
/// could not be measured is null, with the reason beside it.
nlohmann::ordered_json evaluation_document(const EvaluationReport& report);

}  // namespace tandem
