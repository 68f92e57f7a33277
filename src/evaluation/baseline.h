#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "evaluation/evaluation.h"
#include "evaluation/metric_values.h"

namespace tandem {

/// Which change of a figure is a regression.
enum class Better : uint8_t {
  kLower,   ///< growth is
  kHigher,  ///< a fall is
  kEqual,   ///< any change is
};

/// A figure as a baseline keeps it.
struct BaselineMetric {
  std::string section;  ///< "accuracy", "delegation", "size", "speed", ...
  std::string name;
  double value = 0;
  double tolerance = 0;           ///< in the figure's unit
  double relative_tolerance = 0;  ///< as a share of the value; the two add up
  Better better = Better::kEqual;

  /// How far the figure may move in the bad direction.
  double allowance() const;
};

/// Plans whose delegation is tracked.
struct DelegationRequest {
  std::vector<std::string> shapes;  ///< of models
  std::string type = "Q4_0";        ///< of their matrices
  uint32_t prompt_tokens = 1024;
  uint32_t generated_tokens = 128;
};

/// A committed file of figures that a later run must not fall behind (docs/evaluation.md).
class Baseline {
 public:
  /// Errors: those of MappedFile::open; kCorruptFile naming key and value.
  static Result<Baseline> load(const std::string& path);
  static Result<Baseline> parse(const std::string& path, std::string_view text);

  const std::string& path() const { return path_; }
  const std::vector<BaselineMetric>& metrics() const { return metrics_; }
  bool has_section(const std::string& section) const;

  /// What to run for the figures, or nothing when they come from elsewhere. Paths are relative to
  /// the baseline's folder. Errors: kCorruptFile.
  Result<std::optional<EvaluationRequest>> evaluation() const;
  /// What to plan, for every profile; or nothing. Errors: kCorruptFile.
  Result<std::optional<DelegationRequest>> delegation() const;
  /// The model to run it on; empty: the caller's default.
  std::string model() const;

  /// This file's text with the measured values in place of its own; tolerances stay, figures that
  /// were not measured too.
  std::string updated(const MetricValues& measured) const;

 private:
  Result<void> read_metrics();
  std::string resolve(const std::string& path) const;

  std::string path_;
  nlohmann::ordered_json document_;
  std::vector<BaselineMetric> metrics_;
};

/// One line of a gate's table.
struct MetricComparison {
  enum class Verdict : uint8_t {
    kSame,       ///< within the tolerance
    kImproved,   ///< better by more than the tolerance: the baseline is due for an update
    kRegressed,  ///< worse by more than the tolerance
    kMissing,    ///< not measured; counts as a regression
  };
  BaselineMetric baseline;
  std::optional<double> measured;
  Verdict verdict = Verdict::kMissing;

  bool is_bad() const { return verdict == Verdict::kRegressed || verdict == Verdict::kMissing; }
};
/// "same", "improved", "REGRESSED", "MISSING".
const char* to_string(MetricComparison::Verdict verdict);

/// Compares the figures of the given sections; all when `sections` is empty.
std::vector<MetricComparison> compare(const Baseline& baseline, const MetricValues& measured,
                                      const std::vector<std::string>& sections);

}  // namespace tandem
