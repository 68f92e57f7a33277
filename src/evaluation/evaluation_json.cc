// The JSON document of an evaluation.

#include "evaluation/evaluation_json.h"

#include <fmt/format.h>

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

Json measured_json(const Measured& m) {
  return {{"value", m.value},
          {"standard_error", m.standard_error},
          {"low", m.interval.low},
          {"high", m.interval.high}};
}

Json divergence_json(const TextFigures::Divergence& d) {
  return {{"mean", measured_json(d.mean)},
          {"median", measured_json(d.median)},
          {"percentile_99", measured_json(d.percentile_99)},
          {"max", d.max},
          {"same_top", measured_json(d.same_top)},
          {"perplexity_ratio", measured_json(d.perplexity_ratio)},
          {"reference_perplexity", d.reference_perplexity}};
}

Json text_json(const TextReport& text, const BootstrapOptions& bootstrap) {
  Json out{{"file", text.path},
           {"definition", text.definition},
           {"mode", to_string(text.windows.mode)},
           {"window", text.windows.window}};
  if (text.windows.mode == WindowMode::kSliding) out["stride"] = text.windows.stride;
  out["documents"] = text.n_documents;
  out["tokens"] = text.n_tokens;
  out["windows"] = text.n_windows;
  out["seconds"] = text.seconds;
  if (!text.figures) {
    out["perplexity"] = nullptr;
    out["divergence"] = nullptr;
    out["reason"] = text.reason;
    return out;
  }
  const TextFigures& f = *text.figures;
  out["scored"] = f.n_scored;
  out["perplexity"] = measured_json(f.perplexity);
  out["perplexity"]["independent_error"] = f.independent_error;
  out["bits_per_byte"] = f.bits_per_byte;
  out["divergence"] = f.divergence ? divergence_json(*f.divergence) : Json();
  out["intervals"] = {{"method", "block bootstrap"},
                      {"confidence", 0.95},
                      {"block", f.block},
                      {"resamples", bootstrap.n_resamples},
                      {"seed", bootstrap.seed}};
  return out;
}

Json task_json(const TaskFigures& task) {
  Json out{{"name", task.name},        {"file", task.path},         {"n", task.n},
           {"right", task.n_right},    {"cut", task.n_cut},         {"accuracy", task.accuracy},
           {"low", task.interval.low}, {"high", task.interval.high}};
  if (!task.paired) return out;
  out["against"] = {
      {"only_this", task.paired->only_this},   {"only_other", task.paired->only_other},
      {"difference", task.paired->difference}, {"low", task.paired->interval.low},
      {"high", task.paired->interval.high},    {"p_value", task.paired->p_value}};
  return out;
}

}  // namespace

Json evaluation_document(const EvaluationReport& report) {
  Json document{{"schema", "tandem.eval.v1"}};
  document["model"] = {{"source", report.model},
                       {"fingerprint", fmt::format("{:016x}", report.fingerprint)},
                       {"weights", report.size.n_weights},
                       {"bits_per_weight", report.size.bits_per_weight()},
                       {"tensor_bytes", report.size.tensor_bytes},
                       {"file_bytes", report.size.file_bytes},
                       {"precision", report.precision.empty() ? Json() : Json(report.precision)},
                       {"isa", report.isa}};
  document["reference"] = report.reference.empty() ? Json() : Json(report.reference);
  document["against"] = report.against.empty() ? Json() : Json(report.against);
  document["text"] = report.text ? text_json(*report.text, report.bootstrap) : Json();
  document["tasks"] = Json::array();
  for (const TaskFigures& task : report.tasks) document["tasks"].push_back(task_json(task));
  document["task_seconds"] = report.task_seconds;
  document["failure"] = report.failure ? Json{{"code", to_string(report.failure->code)},
                                              {"reason", report.failure->message}}
                                       : Json();
  return document;
}

}  // namespace tandem
