// `tandem profile`: what every lane of a chip does over a request, for Perfetto.

#include "cli/profile_command.h"

#include <memory>

#include "cli/measured_trace.h"
#include "cli/planning.h"
#include "planner/trace.h"

namespace tandem::cli {
namespace {

struct ProfileFlags {
  PlannedModel model;
  DeviceFlags device;
  Workload workload{.prompt_tokens = 512, .generated_tokens = 4};
  uint32_t chunk = 128;
  std::string output = "trace.json";
};

Result<Trace> simulated_trace(const ProfileFlags& flags) {
  TANDEM_TRY(const Planning planning, Planning::create(flags.model, flags.workload));
  TANDEM_TRY(const PlanDevices on, make_plan_devices(flags.device));
  TANDEM_TRY(const Plan plan, planning.plan(on, flags.device, flags.chunk, Policy::kCheapest));
  Trace trace = trace_workload(plan, planning.prefill(), planning.decode(), on.devices,
                               flags.workload.prompt_tokens, flags.workload.generated_tokens);
  trace.model = planning.model_name();
  trace.soc = on.soc;
  return trace;
}

Result<Trace> measured_trace(const ProfileFlags& flags) {
  if (!flags.model.shape.empty()) {
    return failure(ErrorCode::kInvalidArgument,
                   "a model of shape {} has no weights to run with: --soc simulates it",
                   flags.model.shape);
  }
  ModelFlags model = flags.model.model;
  model.chunk = flags.chunk;
  return measure_trace(model, flags.workload);
}

Result<void> run(const ProfileFlags& flags) {
  TANDEM_TRY(const Trace trace,
             flags.device.soc.empty() ? measured_trace(flags) : simulated_trace(flags));
  TANDEM_TRY(write_file(flags.output, trace.to_chrome_json()));
  return print("{}{} written, {} spans; open it in ui.perfetto.dev\n", trace.summary(),
               flags.output, trace.spans.size());
}

}  // namespace

void add_profile_command(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ProfileFlags>();
  CLI::App* command = app.add_subcommand(
      "profile", "Trace what every lane does: of a simulated chip, or of this machine");
  add_planned_model_flags(*command, flags->model);
  add_planning_flags(*command, flags->device);
  command->add_option("--prompt-tokens", flags->workload.prompt_tokens, "Of the request")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  command->add_option("--generate", flags->workload.generated_tokens, "Tokens traced after it")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command->add_option("--chunk", flags->chunk, "Most prompt tokens computed together")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("-o,--output", flags->output, "The trace (Chrome JSON)")
      ->capture_default_str();
  command->footer(
      "With --soc, times are simulated from the profile, and chunks of the prompt overlap over "
      "the\n"
      "devices. Without, random tokens run here, the clock is this machine's and every kind of "
      "node has\n"
      "a lane, so that the summary says where the time goes.\n"
      "Examples:\n"
      "  tandem profile model.gguf --soc snapdragon-8-gen-3 -o trace.json\n"
      "  tandem profile model.gguf -o trace.json\n"
      "  tandem profile model.gguf --soc rk3588 --pin 'layers.*.attention=cpu'");
  command->callback([flags, &context] { context.finish(run(*flags)); });
}

}  // namespace tandem::cli
