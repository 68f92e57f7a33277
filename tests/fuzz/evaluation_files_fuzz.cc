// Any bytes either are refused as task files, stored results, baselines and figures, or give values
// that can be used. The first byte chooses the kind of file.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "evaluation/baseline.h"
#include "evaluation/task_judge.h"
#include "evaluation/task_results.h"

namespace {

using namespace tandem;

void try_task_set(std::string_view text) {
  const auto set = parse_task_set("fuzz", text);
  if (!set) {
    TANDEM_CHECK(set.error().message.starts_with("fuzz"));
    return;
  }
  std::vector<TaskAnswer> answers(set->rows.size());
  for (size_t i = 0; i < answers.size(); ++i) {
    const TaskRow& row = set->rows[i];
    if (row.kind == TaskKind::kChoice) continue;
    answers[i].text = row.expected.is_string() ? row.expected.get<std::string>() : "{}";
    answers[i].is_right =
        is_right(row, answers[i].text, *find_reply_format("hermes"), ReplyEnd::kStopped);
  }
  const auto stored = StoredResults::parse("fuzz", to_stored_lines(*set, answers));
  TANDEM_CHECK(stored.has_value());
  TANDEM_CHECK(stored->of(*set).has_value());
}

void try_baseline(std::string_view text) {
  const auto baseline = Baseline::parse("fuzz", text);
  if (!baseline) return;
  MetricValues measured;
  for (const BaselineMetric& metric : baseline->metrics()) {
    measured[metric.section][metric.name] = metric.value;
  }
  for (const auto& row : compare(*baseline, measured, {})) TANDEM_CHECK(!row.is_bad());
  TANDEM_CHECK(Baseline::parse("fuzz", baseline->updated(measured)).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  MetricValues values;
  switch (data[0] % 4) {
    case 0:
      try_task_set(text);
      break;
    case 1:
      (void)StoredResults::parse("fuzz", text);
      break;
    case 2:
      try_baseline(text);
      break;
    case 3:
      (void)read_metrics("fuzz", text, values);
      break;
  }
  return 0;
}
