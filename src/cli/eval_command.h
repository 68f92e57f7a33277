#pragma once

#include "cli/command.h"
#include "cli/model_flags.h"
#include "evaluation/evaluation.h"

namespace tandem::cli {

/// `tandem eval`: perplexity, divergence from a reference and task accuracy.
void add_eval_command(CLI::App& app, CommandContext& context);

/// Opens a model for an evaluation: checked for NaN, with room for `request`, many rows of logits.
Result<std::shared_ptr<Engine>> open_evaluation_engine(const ModelFlags& flags,
                                                       const EvaluationRequest& request);

/// Shows a bar for each part of an evaluation.
EvaluationProgress evaluation_progress();

}  // namespace tandem::cli
