// `tandem plan`: what would run where on a chip, why, and what it would cost.

#include "cli/plan_command.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/planning.h"
#include "cli/text_table.h"

namespace tandem::cli {
namespace {

using Json = nlohmann::ordered_json;

struct PlanFlags {
  PlannedModel model;
  DeviceFlags device;
  std::vector<std::string> compare;
  Workload workload;
  uint32_t chunk = 1024;
  bool baselines = false;
  bool all_nodes = false;
  bool json = false;
  std::string html;
};

Result<PlanReport> report_for(const Planning& planning, const PlanDevices& on,
                              const PlanFlags& flags, Policy policy) {
  TANDEM_TRY(const Plan plan, planning.plan(on, flags.device, flags.chunk, policy));
  return planning.report(plan, on);
}

/// A line of the comparison.
struct Entry {
  std::string soc;
  const char* policy;
  PlanReport report;
};

struct Named {
  Policy policy;
  const char* name;
};
constexpr Named kPolicies[] = {{Policy::kCheapest, "planned"},
                               {Policy::kHostOnly, "cpu only"},
                               {Policy::kPerNode, "node by node"}};

Result<std::vector<Entry>> compare(const Planning& planning, const PlanFlags& flags) {
  std::vector<std::string> names = flags.compare;
  if (!flags.device.soc.empty()) names.insert(names.begin(), flags.device.soc);
  std::vector<Entry> out;
  for (const std::string& name : names) {
    DeviceFlags device = flags.device;
    device.soc = name;
    TANDEM_TRY(const PlanDevices on, make_plan_devices(device));
    for (const Named& p : kPolicies) {
      if (!flags.baselines && p.policy != Policy::kCheapest) continue;
      TANDEM_TRY(PlanReport report, report_for(planning, on, flags, p.policy));
      out.push_back({on.soc, p.name, std::move(report)});
    }
  }
  return out;
}

double per(double value, double count) { return count > 0 ? value / count : 0; }

std::string delegated(const PlanReport& report, Phase phase) {
  const PhaseDelegation* best = nullptr;
  for (const PhaseDelegation& p : report.phases) {
    if (p.phase == phase && (best == nullptr || p.n_delegated >= best->n_delegated)) best = &p;
  }
  return best == nullptr ? "-" : fmt::format("{}/{}", best->n_delegated, best->n_nodes);
}

std::string comparison_text(const std::vector<Entry>& entries, const PlanFlags& flags) {
  TextTable table("llrrrrrrrll");
  table.add({"soc (simulated)", "plan", "first token", "prefill tok/s", "decode tok/s", "in all",
             "prefill mJ/tok", "decode mJ/tok", "J", "prefill nodes", "decode nodes"});
  for (const Entry& e : entries) {
    const Prediction& p = e.report.prediction;
    const double n_prompt = flags.workload.prompt_tokens;
    table.add({e.soc, e.policy, format_seconds(p.prefill.seconds),
               fmt::format("{:.1f}", per(n_prompt, p.prefill.seconds)),
               fmt::format("{:.2f}", per(p.n_decoded, p.decode.seconds)),
               format_seconds(p.seconds()),
               fmt::format("{:.2f}", per(p.prefill.joules * 1e3, n_prompt)),
               fmt::format("{:.1f}", per(p.decode.joules * 1e3, p.n_decoded)),
               fmt::format("{:.2f}", p.joules()), delegated(e.report, Phase::kPrefill),
               delegated(e.report, Phase::kDecode)});
  }
  return fmt::format("model {}, {} prompt and {} generated tokens\n\n{}", entries[0].report.model,
                     flags.workload.prompt_tokens, flags.workload.generated_tokens,
                     table.to_string(0));
}

std::string comparison_json(const std::vector<Entry>& entries) {
  Json out{{"schema", "tandem.plan_comparison.v1"}, {"plans", Json::array()}};
  for (const Entry& e : entries) {
    out["plans"].push_back(
        {{"simulated", e.soc}, {"policy", e.policy}, {"report", Json::parse(e.report.to_json())}});
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<void> run(const PlanFlags& flags) {
  TANDEM_TRY(const Planning planning, Planning::create(flags.model, flags.workload));
  if (!flags.compare.empty() || flags.baselines) {
    TANDEM_TRY(const auto entries, compare(planning, flags));
    if (entries.empty()) {
      return failure(ErrorCode::kInvalidArgument, "--baselines needs --soc or --compare");
    }
    return write_output(flags.json ? comparison_json(entries) : comparison_text(entries, flags));
  }
  TANDEM_TRY(const PlanDevices on, make_plan_devices(flags.device));
  TANDEM_TRY(const PlanReport report, report_for(planning, on, flags, Policy::kCheapest));
  if (flags.device.require_npu == "all") {
    for (const PhaseDelegation& phase : report.phases) TANDEM_TRY(require_all_delegated(phase));
  }
  if (!flags.html.empty()) TANDEM_TRY(write_file(flags.html, report.to_html()));
  return write_output(flags.json ? report.to_json() : report.to_text(flags.all_nodes));
}

}  // namespace

void add_plan_command(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<PlanFlags>();
  CLI::App* command =
      app.add_subcommand("plan", "Show what would run where on a chip, why, and its cost");
  add_planned_model_flags(*command, flags->model);
  add_planning_flags(*command, flags->device);
  command->add_option("--compare", flags->compare, "Profiles to compare, separated by commas")
      ->delimiter(',');
  command->add_flag("--baselines", flags->baselines,
                    "Compare with the processor alone and with each node delegated by itself");
  command->add_option("--prompt-tokens", flags->workload.prompt_tokens, "Of the request")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--generate", flags->workload.generated_tokens, "Tokens of the answer")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  command->add_option("--chunk", flags->chunk, "Most prompt tokens computed together")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("-c,--context", flags->model.model.context, "Positions a session may hold")
      ->check(CLI::Range(1, 1 << 24));
  command->add_flag("--all-nodes", flags->all_nodes,
                    "Give every node that stays on the processor a line of its own");
  command->add_option("--html", flags->html, "Write one self-contained page with the layer map");
  command->add_flag("--json", flags->json,
                    "Print JSON (tandem.plan_report.v1, comparisons tandem.plan_comparison.v1)");
  command->footer(
      "Figures of a chip are simulated from its profile.\n"
      "Examples:\n"
      "  tandem plan model.gguf --soc snapdragon-8-gen-3\n"
      "  tandem plan --shape Llama-3.2-1B --type Q4_0 --soc rk3588\n"
      "  tandem plan model.gguf --soc rk3588 --pin 'layers.*.attention=cpu' --html plan.html\n"
      "  tandem plan model.gguf --compare snapdragon-8-gen-3,snapdragon-8-gen-2 --baselines");
  command->callback([flags, &context] { context.finish(run(*flags)); });
}

}  // namespace tandem::cli
