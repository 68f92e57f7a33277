// The program `tandem`: one subcommand per file of this folder.

#include <fmt/format.h>

#include "base/cpu_features.h"
#include "cli/chat_command.h"
#include "cli/command.h"
#include "cli/convert_command.h"
#include "cli/detokenize_command.h"
#include "cli/devices_command.h"
#include "cli/doctor_command.h"
#include "cli/eval_command.h"
#include "cli/gate_command.h"
#include "cli/inspect_command.h"
#include "cli/plan_command.h"
#include "cli/profile_command.h"
#include "cli/run_command.h"
#include "cli/soc_command.h"
#include "cli/synth_command.h"
#include "cli/template_command.h"
#include "cli/tokenize_command.h"
#include "cli/usage_error.h"
#include "device/cpu/cpu_device.h"

int main(int argc, char** argv) {
  CLI::App app{"Tandem runs small language models on the CPU and the NPU in tandem."};
  app.name("tandem");
  app.require_subcommand(1);
  app.set_version_flag("--version", [] {
    return fmt::format("tandem {} ({}, processor: {})", TANDEM_VERSION,
                       tandem::kernels::to_string(tandem::best_isa()),
                       tandem::CpuFeatures::detect().to_string());
  });
  app.footer(
      "Examples:\n"
      "  tandem run \"What is the opposite of cold?\"\n"
      "  tandem chat -m model.gguf\n"
      "  tandem run --help");
  tandem::cli::CommandContext context;
  tandem::cli::add_run_command(app, context);
  tandem::cli::add_chat_command(app, context);
  tandem::cli::add_eval_command(app, context);
  tandem::cli::add_gate_command(app, context);
  tandem::cli::add_plan_command(app, context);
  tandem::cli::add_profile_command(app, context);
  tandem::cli::add_inspect_command(app, context);
  tandem::cli::add_devices_command(app, context);
  tandem::cli::add_doctor_command(app, context);
  tandem::cli::add_convert_command(app, context);
  tandem::cli::add_soc_command(app, context);
  tandem::cli::add_synth_command(app, context);
  tandem::cli::add_template_command(app, context);
  tandem::cli::add_tokenize_command(app, context);
  tandem::cli::add_detokenize_command(app, context);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    tandem::cli::finish_parse(app, error, context);
  }
  return context.exit_code;
}
