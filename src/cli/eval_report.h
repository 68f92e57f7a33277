#pragma once

#include <string>

#include "evaluation/evaluation.h"

namespace tandem::cli {

/// An evaluation for people.
std::string evaluation_text(const EvaluationReport& report);

}  // namespace tandem::cli
