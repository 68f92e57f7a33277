// Baselines: figures that a later run is compared with.

#include "evaluation/baseline.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/mapped_file.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "tandem.gate.v1";

template <class... Args>
tl::unexpected<Error> wrong(fmt::format_string<Args...> format, Args&&... args) {
  return failure(ErrorCode::kCorruptFile, "{}", fmt::format(format, std::forward<Args>(args)...));
}

bool has_schema(const Json& document, std::string_view schema) {
  if (!document.is_object()) return false;
  const auto found = document.find("schema");
  return found != document.end() && *found == schema;
}

/// Reads an object's keys, each once, and says which one is wrong or unknown.
class ObjectReader {
 public:
  ObjectReader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {}

  Result<void> text(const char* key, std::string& out) {
    const Json* value = find(key);
    if (value == nullptr || value->is_null()) return {};
    if (!value->is_string()) return wrong("{}.{} must be a text", where_, key);
    out = value->get<std::string>();
    return {};
  }

  Result<void> number(const char* key, double& out, double low) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_number() || value->get<double>() < low) {
      return wrong("{}.{} must be a number, {} or more", where_, key, low);
    }
    out = value->get<double>();
    return {};
  }

  template <class Integer>
  Result<void> count(const char* key, Integer& out) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_number_unsigned() || value->get<uint64_t>() > UINT32_MAX) {
      return wrong("{}.{} must be a whole number", where_, key);
    }
    out = static_cast<Integer>(value->get<uint64_t>());
    return {};
  }

  Result<void> flag(const char* key, bool& out) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_boolean()) return wrong("{}.{} must be true or false", where_, key);
    out = value->get<bool>();
    return {};
  }

  const Json* find(const char* key) {
    known_.push_back(key);
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }

  /// After all keys were asked for.
  Result<void> finish() const {
    for (const auto& [key, value] : object_.items()) {
      if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
        return wrong("{}.{} is unknown", where_, key);
      }
    }
    return {};
  }

 private:
  const Json& object_;
  std::string where_;
  std::vector<std::string> known_;
};

Result<Better> better_from_name(const std::string& name, const std::string& where) {
  if (name == "lower") return Better::kLower;
  if (name == "higher") return Better::kHigher;
  if (name == "equal") return Better::kEqual;
  return wrong("{}.better must be lower, higher or equal", where);
}

Result<BaselineMetric> parse_metric(const std::string& section, const std::string& name,
                                    const Json& object) {
  const std::string where = "metrics." + section + "." + name;
  if (!object.is_object()) return wrong("{} must be an object", where);
  const auto value = object.find("value");
  if (value == object.end() || !value->is_number()) {
    return wrong("{}.value must be a number", where);
  }
  BaselineMetric metric{.section = section, .name = name, .value = value->get<double>()};
  ObjectReader reader(object, where);
  std::string better;
  reader.find("value");
  TANDEM_TRY(reader.text("better", better));
  TANDEM_TRY(metric.better, better_from_name(better, where));
  TANDEM_TRY(reader.number("tolerance", metric.tolerance, 0));
  TANDEM_TRY(reader.number("relative_tolerance", metric.relative_tolerance, 0));
  TANDEM_TRY(reader.finish());
  return metric;
}

Result<void> parse_task_files(const Json& list, std::vector<EvaluationRequest::TaskFile>& out) {
  if (!list.is_array()) return wrong("evaluation.tasks must be a list");
  for (const Json& item : list) {
    if (!item.is_object()) return wrong("evaluation.tasks must hold objects");
    EvaluationRequest::TaskFile& file = out.emplace_back();
    ObjectReader reader(item, "evaluation.tasks");
    TANDEM_TRY(reader.text("file", file.path));
    TANDEM_TRY(reader.count("limit", file.limit));
    TANDEM_TRY(reader.finish());
    if (file.path.empty()) return wrong("evaluation.tasks.file is missing");
  }
  return {};
}

Result<EvaluationRequest> parse_request(const Json& object) {
  if (!object.is_object()) return wrong("evaluation must be an object");
  EvaluationRequest out;
  ObjectReader reader(object, "evaluation");
  std::string mode = to_string(out.windows.mode), model;
  TANDEM_TRY(reader.text("model", model));
  TANDEM_TRY(reader.text("text", out.text));
  TANDEM_TRY(reader.text("mode", mode));
  TANDEM_TRY(reader.count("window", out.windows.window));
  TANDEM_TRY(reader.count("stride", out.windows.stride));
  TANDEM_TRY(reader.count("max_windows", out.windows.max_windows));
  TANDEM_TRY(reader.flag("documents", out.text_options.documents));
  TANDEM_TRY(reader.flag("parse_special", out.text_options.parse_special));
  TANDEM_TRY(reader.text("logits", out.logits));
  TANDEM_TRY(reader.count("max_tokens", out.task_options.max_tokens));
  TANDEM_TRY(reader.flag("choice_per_byte", out.task_options.choice_per_byte));
  if (const Json* tasks = reader.find("tasks")) {
    TANDEM_TRY(parse_task_files(*tasks, out.tasks));
  }
  TANDEM_TRY(reader.finish());
  const auto known = window_mode_from_name(mode);
  if (!known) return wrong("evaluation.mode must be sliding, chunked or llama.cpp");
  out.windows.mode = *known;
  out.text_options.drop_last_newline = *known == WindowMode::kLlamaCpp;
  if (out.task_options.max_tokens == 0) return wrong("evaluation.max_tokens must be 1 or more");
  return out;
}

Result<DelegationRequest> parse_delegation(const Json& object) {
  if (!object.is_object()) return wrong("delegation must be an object");
  DelegationRequest out;
  ObjectReader reader(object, "delegation");
  const Json* shapes = reader.find("shapes");
  if (shapes == nullptr || !shapes->is_array() || shapes->empty()) {
    return wrong("delegation.shapes must be a list, not empty");
  }
  for (const Json& shape : *shapes) {
    if (!shape.is_string()) return wrong("delegation.shapes must hold texts");
    out.shapes.push_back(shape.get<std::string>());
  }
  TANDEM_TRY(reader.text("type", out.type));
  TANDEM_TRY(reader.count("prompt_tokens", out.prompt_tokens));
  TANDEM_TRY(reader.count("generated_tokens", out.generated_tokens));
  TANDEM_TRY(reader.finish());
  if (out.prompt_tokens == 0) return wrong("delegation.prompt_tokens must be 1 or more");
  return out;
}

MetricComparison::Verdict judge(const BaselineMetric& metric, double measured) {
  using Verdict = MetricComparison::Verdict;
  // What counts is how far the figure moved in the bad direction.
  const double moved = measured - metric.value;
  const double allowance = metric.allowance();
  if (std::isnan(measured)) return Verdict::kMissing;
  if (std::abs(moved) <= allowance) return Verdict::kSame;
  if (metric.better == Better::kEqual) return Verdict::kRegressed;
  const bool is_worse = (moved > 0) == (metric.better == Better::kLower);
  return is_worse ? Verdict::kRegressed : Verdict::kImproved;
}

}  // namespace

double BaselineMetric::allowance() const {
  // A decimal of the file and the same decimal after arithmetic may differ in their last bits.
  return tolerance + relative_tolerance * std::abs(value) + 1e-12 * std::abs(value);
}

Result<Baseline> Baseline::load(const std::string& path) {
  TANDEM_TRY(const auto file, MappedFile::open(path));
  return parse(path, {reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()});
}

Result<Baseline> Baseline::parse(const std::string& path, std::string_view text) {
  Baseline out;
  out.path_ = path;
  out.document_ = Json::parse(text, nullptr, false);
  if (!has_schema(out.document_, kSchema)) {
    return failure(ErrorCode::kCorruptFile, "{}: not a baseline (schema {})", path, kSchema);
  }
  if (auto outcome = out.read_metrics(); !outcome) {
    return tl::unexpected(outcome.error().within(path));
  }
  if (auto request = out.evaluation(); !request) return tl::unexpected(request.error());
  if (auto request = out.delegation(); !request) return tl::unexpected(request.error());
  return out;
}

Result<void> Baseline::read_metrics() {
  const auto sections = document_.find("metrics");
  if (sections == document_.end() || !sections->is_object() || sections->empty()) {
    return wrong("metrics must be an object of sections, not empty");
  }
  for (const auto& [section, metrics] : sections->items()) {
    if (!metrics.is_object()) return wrong("metrics.{} must be an object", section);
    for (const auto& [name, object] : metrics.items()) {
      TANDEM_TRY(metrics_.emplace_back(), parse_metric(section, name, object));
    }
  }
  return {};
}

bool Baseline::has_section(const std::string& section) const {
  return std::any_of(metrics_.begin(), metrics_.end(),
                     [&](const BaselineMetric& m) { return m.section == section; });
}

std::string Baseline::resolve(const std::string& path) const {
  return path.empty() ? path : (std::filesystem::path(path_).parent_path() / path).string();
}

Result<std::optional<EvaluationRequest>> Baseline::evaluation() const {
  const auto object = document_.find("evaluation");
  if (object == document_.end() || object->is_null()) return std::optional<EvaluationRequest>();
  auto request = parse_request(*object);
  if (!request) return tl::unexpected(request.error().within(path_));
  request->text = resolve(request->text);
  request->logits = resolve(request->logits);
  for (auto& task : request->tasks) task.path = resolve(task.path);
  return std::optional(std::move(*request));
}

Result<std::optional<DelegationRequest>> Baseline::delegation() const {
  const auto object = document_.find("delegation");
  if (object == document_.end() || object->is_null()) return std::optional<DelegationRequest>();
  auto request = parse_delegation(*object);
  if (!request) return tl::unexpected(request.error().within(path_));
  return std::optional(std::move(*request));
}

std::string Baseline::model() const {
  const auto object = document_.find("evaluation");
  if (object == document_.end() || !object->is_object()) return {};
  const auto model = object->find("model");
  if (model == object->end() || !model->is_string()) return {};
  return resolve(model->get<std::string>());
}

std::string Baseline::updated(const MetricValues& measured) const {
  Json document = document_;
  for (const BaselineMetric& metric : metrics_) {
    const auto section = measured.find(metric.section);
    if (section == measured.end()) continue;
    const auto value = section->second.find(metric.name);
    if (value == section->second.end() || !value->second) continue;
    document["metrics"][metric.section][metric.name]["value"] = *value->second;
  }
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

const char* to_string(MetricComparison::Verdict verdict) {
  switch (verdict) {
    case MetricComparison::Verdict::kSame:
      return "same";
    case MetricComparison::Verdict::kImproved:
      return "improved";
    case MetricComparison::Verdict::kRegressed:
      return "REGRESSED";
    case MetricComparison::Verdict::kMissing:
      return "MISSING";
  }
  return "";
}

std::vector<MetricComparison> compare(const Baseline& baseline, const MetricValues& measured,
                                      const std::vector<std::string>& sections) {
  std::vector<MetricComparison> out;
  for (const BaselineMetric& metric : baseline.metrics()) {
    const bool is_wanted = sections.empty() || std::find(sections.begin(), sections.end(),
                                                         metric.section) != sections.end();
    if (!is_wanted) continue;
    MetricComparison& row = out.emplace_back();
    row.baseline = metric;
    const auto section = measured.find(metric.section);
    if (section == measured.end()) continue;
    const auto value = section->second.find(metric.name);
    if (value == section->second.end() || !value->second) continue;
    row.measured = *value->second;
    row.verdict = judge(metric, *row.measured);
  }
  return out;
}

}  // namespace tandem
