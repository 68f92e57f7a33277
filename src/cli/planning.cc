#include "cli/planning.h"

#include <algorithm>

#include "base/atomic_file.h"
#include "device/cpu/cpu_device.h"
#include "device/npu_sim/npu_sim_device.h"
#include "synth/weightless.h"

namespace tandem::cli {

Result<PlanDevices> make_plan_devices(const DeviceFlags& flags) {
  PlanDevices out;
  TANDEM_TRY(auto cpu, make_cpu_device());
  if (flags.soc.empty()) {
    out.owned.push_back(std::move(cpu));
  } else {
    TANDEM_TRY(const auto profile, open_profile(flags));
    out.soc = profile->name;
    out.owned = make_soc_devices(profile, std::move(cpu));
  }
  for (const auto& device : out.owned) out.devices.push_back(device.get());
  return out;
}

void add_planned_model_flags(CLI::App& command, PlannedModel& flags) {
  auto* model = command.add_option("model,-m,--model", flags.model.model,
                                   "GGUF file (default: the embedded demo model)");
  auto* shape = command.add_option(
      "--shape", flags.shape, "Instead of a file, a model of this shape (tandem synth --list)");
  command.add_option("--type", flags.type, "Its weights' type, such as Q4_0, Q8_0 or Q4_K_M")
      ->needs(shape)
      ->capture_default_str();
  shape->excludes(model);
}

namespace {

Result<std::shared_ptr<const Model>> open_planned(const PlannedModel& planned) {
  if (planned.shape.empty()) return open_model(planned.model);
  TANDEM_TRY(const ModelShape shape, find_shape(planned.shape));
  TANDEM_TRY(const WeightTypes types, WeightTypes::parse(planned.type));
  return weightless_model(shape, types);
}

}  // namespace

Result<Planning> Planning::create(const PlannedModel& planned, const Workload& workload) {
  Planning out;
  out.workload_ = workload;
  TANDEM_TRY(const auto model, open_planned(planned));
  out.context_ =
      std::max(planned.model.context, workload.prompt_tokens + workload.generated_tokens);
  const GraphOptions options{.context = out.context_};
  TANDEM_TRY(out.prefill_, build_graph(*model, Phase::kPrefill, options));
  TANDEM_TRY(out.decode_, build_graph(*model, Phase::kDecode, options));
  out.model_name_ = model->metadata().string_or("general.name", "unnamed").value_or("?");
  return out;
}

Result<Plan> Planning::plan(const PlanDevices& on, const DeviceFlags& flags, uint32_t chunk,
                            Policy policy) const {
  TANDEM_TRY(PlanOptions options, plan_options(flags));
  if (policy != Policy::kCheapest) options.policy = policy;
  options.prompt_tokens = workload_.prompt_tokens;
  options.generated_tokens = workload_.generated_tokens;
  const uint32_t rows = std::max(1u, std::min(chunk, context_));
  const PlanRequest requests[] = {{prefill_, {rows, 1}}, {decode_, {1, 1}}};
  return make_plan(requests, on.devices, context_, options);
}

PlanReport Planning::report(const Plan& plan, const PlanDevices& on) const {
  PlanReport out = make_report(plan, prefill_, decode_, on.devices, workload_);
  out.model = model_name_;
  out.soc = on.soc;
  return out;
}

Result<void> write_file(const std::string& path, std::string_view text) {
  TANDEM_TRY(AtomicFile file, AtomicFile::create(path));
  TANDEM_TRY(file.write(text));
  return file.commit();
}

}  // namespace tandem::cli
