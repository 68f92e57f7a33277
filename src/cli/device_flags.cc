#include "cli/device_flags.h"

#include <charconv>

#include "cli/command.h"
#include "device/npu_sim/npu_sim_device.h"
#include "planner/delegation.h"
#include "soc/profile_reader.h"

namespace tandem::cli {
namespace {

/// "1/256" to 256, "0" to 0.
Result<uint32_t> parse_check(const std::string& text) {
  if (text == "0") return 0;
  uint32_t every = 0;
  const char* end = text.data() + text.size();
  const bool has_form = text.size() > 2 && text.compare(0, 2, "1/") == 0;
  if (has_form) {
    const auto [rest, error] = std::from_chars(text.data() + 2, end, every);
    if (error == std::errc() && rest == end && every > 0) return every;
  }
  return failure(ErrorCode::kInvalidArgument,
                 "--check {} is neither of the form 1/N, such as 1/256, nor 0", text);
}

}  // namespace

void add_planning_flags(CLI::App& command, DeviceFlags& flags) {
  command.add_option("--soc", flags.soc,
                     "Simulate the chip of a profile: a name (tandem soc) or a JSON file");
  command.add_option("--soc-variant", flags.variant, "The profile's software variant");
  command.add_option("--objective", flags.objective, "Plan for latency, energy or balanced")
      ->capture_default_str();
  command
      .add_option(
          "--policy", flags.policy,
          "cheapest, cpu-only, or node-by-node: delegate whatever the NPU supports, a launch "
          "each")
      ->capture_default_str();
  command
      .add_option("--pin", flags.pins,
                  "Keep nodes on a device: PATTERN=DEVICE, such as 'layers.*.attention=cpu'; "
                  "repeatable, the last match holds")
      ->allow_extra_args(false);
  command
      .add_option("--power-cap", flags.power_cap_watts,
                  "Most watts that a step may draw on average")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--require-npu", flags.require_npu,
                  "all: fail unless every node is delegated; none: fall back and report")
      ->check(CLI::IsMember({"all", "none"}))
      ->capture_default_str();
}

void add_safety_flags(CLI::App& command, DeviceFlags& flags) {
  command
      .add_option("--check", flags.check,
                  "Compare one in N delegated executions with the processor, and the first two of "
                  "each size: 1/N; 0: none")
      ->capture_default_str();
  command
      .add_option(
          "--deadline", flags.deadline_seconds,
          "Seconds a delegated execution may take before its device is given up; 0: for ever")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option(
          "--compile-cache", flags.compile_cache,
          "Folder that keeps packed weights and compiled segments between runs, as large as "
          "the model; later starts map them")
      ->envname("TANDEM_COMPILE_CACHE");
  command.add_flag("--warmup", flags.warm_up, "Compile everything before the first answer");
  command.add_option("--inject-fault", flags.fault,
                     "Let the simulated NPU fail: hang|error|wrong|lost|oom:PHASE[:AFTER]");
}

Result<std::shared_ptr<const soc::SocProfile>> open_profile(const DeviceFlags& flags) {
  TANDEM_TRY(soc::SocProfile profile, soc::find_profile(flags.soc));
  if (!flags.variant.empty()) {
    TANDEM_TRY(profile, soc::with_variant(profile, flags.variant));
  }
  return std::make_shared<const soc::SocProfile>(std::move(profile));
}

Result<PlanOptions> plan_options(const DeviceFlags& flags) {
  PlanOptions out;
  TANDEM_TRY(out.objective, objective_from_name(flags.objective));
  TANDEM_TRY(out.policy, policy_from_name(flags.policy));
  out.power_cap_watts = flags.power_cap_watts;
  for (const std::string& text : flags.pins) {
    TANDEM_TRY(Pin pin, parse_pin(text));
    out.pins.push_back(std::move(pin));
  }
  return out;
}

Result<void> apply(const DeviceFlags& flags, EngineOptions& options) {
  TANDEM_TRY(options.plan, plan_options(flags));
  options.safety.deadline_seconds = flags.deadline_seconds;
  TANDEM_TRY(options.safety.check_every, parse_check(flags.check));
  options.compile_cache = CompileCache::open(flags.compile_cache, print_warning);
  NpuSimOptions npu{.compile_cache = options.compile_cache};
  if (!flags.fault.empty()) {
    TANDEM_TRY(npu.fault, parse_fault(flags.fault));
  }
  if (flags.soc.empty()) {
    if (flags.fault.empty() && flags.require_npu != "all") return {};
    return failure(ErrorCode::kUnsupported,
                   "there is no NPU here: this build runs on the processor, and on simulated NPUs "
                   "with --soc; tandem doctor tells which nodes and libraries of NPUs there are");
  }
  TANDEM_TRY(const auto profile, open_profile(flags));
  options.devices =
      [profile, npu](std::unique_ptr<Device> cpu) -> Result<std::vector<std::unique_ptr<Device>>> {
    return make_soc_devices(profile, std::move(cpu), npu);
  };
  // A compiled step of a static shape costs all its rows: one sequence at a time.
  options.max_sequences = 1;
  return {};
}

Result<void> check_required(const DeviceFlags& flags, const Engine& engine) {
  if (flags.require_npu != "all") return {};
  for (const PhasePlan& phase : engine.plan().phases) {
    const PhaseDelegation counted =
        count_delegation(engine.plan(), phase, engine.graph(phase.phase));
    TANDEM_TRY(require_all_delegated(counted));
  }
  for (const Incident& incident : engine.incidents()) {
    return failure(ErrorCode::kDevice, "{}: {}", incident.device, incident.reason.sentence);
  }
  return {};
}

}  // namespace tandem::cli
