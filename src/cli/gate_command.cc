// `tandem gate`.

#include "cli/gate_command.h"

#include <algorithm>

#include "base/atomic_file.h"
#include "base/mapped_file.h"
#include "cli/delegation_metrics.h"
#include "cli/eval_command.h"
#include "cli/model_flags.h"
#include "cli/text_table.h"
#include "evaluation/baseline.h"

namespace tandem::cli {
namespace {

struct GateFlags {
  ModelFlags model;
  std::string baseline;
  std::vector<std::string> metrics;
  std::vector<std::string> sections;
  bool update = false;
  bool json = false;
};

Result<MetricValues> measure(const GateFlags& flags, const Baseline& baseline) {
  MetricValues out;
  TANDEM_TRY(const auto request, baseline.evaluation());
  if (request) {
    ModelFlags model = flags.model;
    if (model.model.empty()) model.model = baseline.model();
    TANDEM_TRY(const auto engine, open_evaluation_engine(model, *request));
    TANDEM_TRY(const auto report, evaluate(engine, nullptr, *request, evaluation_progress()));
    if (report.failure && flags.update) return tl::unexpected(*report.failure);
    if (report.failure) note("tandem: {}\n", report.failure->message);
    out = metrics_of(report);
  }
  TANDEM_TRY(const auto plans, baseline.delegation());
  if (plans) {
    TANDEM_TRY(add_delegation(*plans, out));
  }
  for (const std::string& path : flags.metrics) {
    TANDEM_TRY(const auto file, MappedFile::open(path));
    const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()),
                                file->bytes().size());
    TANDEM_TRY(read_metrics(path, text, out));
  }
  return out;
}

std::string allowed_text(const BaselineMetric& metric) {
  const double allowance = metric.allowance();
  switch (metric.better) {
    case Better::kLower:
      return fmt::format("<= {:.6g}", metric.value + allowance);
    case Better::kHigher:
      return fmt::format(">= {:.6g}", metric.value - allowance);
    case Better::kEqual:
      return fmt::format("{:.6g} +- {:.3g}", metric.value, allowance);
  }
  return "";
}

std::string table_text(const std::vector<MetricComparison>& rows) {
  TextTable table("llrrrl");
  table.add({"section", "figure", "baseline", "allowed", "measured", ""});
  for (const MetricComparison& row : rows) {
    table.add({row.baseline.section, row.baseline.name, fmt::format("{:.6g}", row.baseline.value),
               allowed_text(row.baseline),
               row.measured ? fmt::format("{:.6g}", *row.measured) : "-", to_string(row.verdict)});
  }
  return table.to_string(0);
}

std::string json_text(const std::string& path, const std::vector<MetricComparison>& rows,
                      size_t n_bad) {
  nlohmann::ordered_json document{{"schema", "tandem.gate_result.v1"},
                                  {"baseline", path},
                                  {"passed", n_bad == 0},
                                  {"figures", nlohmann::ordered_json::array()}};
  for (const MetricComparison& row : rows) {
    nlohmann::ordered_json entry{{"section", row.baseline.section},
                                 {"name", row.baseline.name},
                                 {"baseline", row.baseline.value},
                                 {"allowance", row.baseline.allowance()},
                                 {"measured", nullptr},
                                 {"verdict", to_string(row.verdict)}};
    if (row.measured) entry["measured"] = *row.measured;
    document["figures"].push_back(std::move(entry));
  }
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<void> update(const Baseline& baseline, const MetricValues& measured) {
  TANDEM_TRY(AtomicFile file, AtomicFile::create(baseline.path()));
  TANDEM_TRY(file.write(baseline.updated(measured)));
  return file.commit();
}

Result<void> run(const GateFlags& flags) {
  TANDEM_TRY(const Baseline baseline, Baseline::load(flags.baseline));
  for (const std::string& section : flags.sections) {
    if (baseline.has_section(section)) continue;
    return failure(ErrorCode::kInvalidArgument, "{}: has no section {}", flags.baseline, section);
  }
  TANDEM_TRY(const MetricValues measured, measure(flags, baseline));
  const auto rows = compare(baseline, measured, flags.sections);
  const auto n_bad = static_cast<size_t>(
      std::count_if(rows.begin(), rows.end(), [](const auto& row) { return row.is_bad(); }));
  TANDEM_TRY(write_output(flags.json ? json_text(flags.baseline, rows, n_bad) : table_text(rows)));
  if (flags.update) return update(baseline, measured);
  if (n_bad == 0) return {};
  return failure(ErrorCode::kUnsupported, "{}: {} of {} figures regressed or are missing",
                 flags.baseline, n_bad, rows.size());
}

}  // namespace

void add_gate_command(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<GateFlags>();
  CLI::App* command =
      app.add_subcommand("gate", "Fail when figures fell behind a committed baseline");
  command->add_option("--baseline", flags->baseline, "The file of figures and tolerances")
      ->required();
  command->add_option("--metrics", flags->metrics,
                      "Further measured figures, files of schema tandem.metrics.v1");
  command->add_option("--section", flags->sections, "Only these sections of the baseline");
  command->add_flag("--update", flags->update, "Write the measured figures into the baseline");
  command->add_flag("--json", flags->json, "Print JSON (schema tandem.gate_result.v1)");
  add_model_flags(*command, flags->model);
  command->footer(
      "Examples:\n"
      "  tandem gate --baseline models/demo/baseline.json\n"
      "  tandem gate --baseline models/delegation.json\n"
      "  tandem gate --baseline baseline.json -m new.gguf --section accuracy\n"
      "  tandem gate --baseline baseline.json --update");
  command->callback([flags, &context] { context.finish(run(*flags)); });
}

}  // namespace tandem::cli
