#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "evaluation/evaluation_text.h"
#include "evaluation/task_results.h"
#include "evaluation/text_evaluation.h"

namespace tandem {

/// What to measure. A text, task files, or both.
struct EvaluationRequest {
  std::string text = {};  ///< path; empty: none
  WindowOptions windows = {};
  TextOptions text_options = {};
  std::string logits = {};       ///< stored logits to compare with
  std::string save_logits = {};  ///< where to store this model's
  BootstrapOptions bootstrap = {};

  struct TaskFile {
    std::string path;
    size_t limit = 0;  ///< rows; 0: all
  };
  std::vector<TaskFile> tasks = {};
  TaskOptions task_options = {};
  std::string against = {};     ///< stored results to compare the tasks with
  std::string save_items = {};  ///< where to store this run's
};

struct ModelSize {
  uint64_t n_weights = 0;     ///< elements of all tensors
  uint64_t tensor_bytes = 0;  ///< what the planes in use take
  uint64_t file_bytes = 0;

  double bits_per_weight() const {
    return 8.0 * static_cast<double>(tensor_bytes) / static_cast<double>(n_weights);
  }
};
/// Nested weights count with the planes that are read.
ModelSize size_of(const Model& model, WeightPlanes planes = WeightPlanes::kBoth);

struct TextReport {
  std::string path;
  std::string definition;
  WindowOptions windows;
  size_t n_tokens = 0;
  size_t n_documents = 0;
  size_t n_windows = 0;
  double seconds = 0;
  /// Nothing when a number was no number; `reason` then says where.
  std::optional<TextFigures> figures = {};
  std::string reason = {};
};

struct EvaluationReport {
  std::string model;  ///< where it came from
  uint64_t fingerprint = 0;
  std::string isa;
  std::string precision = {};  ///< of nested weights, "int4" or "int8"; empty without any
  ModelSize size;
  std::string reference = {};  ///< the model or file compared with
  std::string against = {};
  BootstrapOptions bootstrap = {};
  std::optional<TextReport> text = {};
  std::vector<TaskFigures> tasks = {};
  double task_seconds = 0;
  /// What ended the evaluation early; figures that were not reached are missing or null.
  std::optional<Error> failure = {};
};

/// What a caller may watch: called with what is being done and (done, total).
using EvaluationProgress =
    std::function<void(const std::string& what, uint64_t done, uint64_t total)>;

/// Rows of logits that a step should compute for this model: as many as 64 MiB hold, 16 to 256.
uint32_t wanted_outputs(const Model& model);

/// Runs a request on `engine`, made with check_finite so that NaN is found where it arises, and on
/// `reference` when it is not null. Errors: bad requests and files; a number that is none
/// is no error here but EvaluationReport::failure, so that a report can still be written.
Result<EvaluationReport> evaluate(const std::shared_ptr<Engine>& engine,
                                  const std::shared_ptr<Engine>& reference,
                                  const EvaluationRequest& request,
                                  const EvaluationProgress& progress = {});

}  // namespace tandem
