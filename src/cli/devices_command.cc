// `tandem devices`: what can execute a model here, and with which kernels.

#include "cli/devices_command.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/cpu_features.h"
#include "device/cpu/cpu_device.h"
#include "device/cpu/kernel_set.h"

namespace tandem::cli {
namespace {

struct DevicesFlags {
  bool kernels = false;
  bool json = false;
};

struct KernelName {
  const char* op;
  const char* name;
  kernels::Isa isa;
};

template <class Rows>
void append_rows(const char* op, const Rows& rows, std::vector<KernelName>& out) {
  for (const auto& row : rows) out.push_back({op, row.name, row.isa});
}

std::vector<KernelName> all_kernels() {
  std::vector<KernelName> out;
  append_rows("linear", kernels::linear_rows(), out);
  append_rows("quantize", kernels::quantize_rows(), out);
  append_rows("rms_norm", kernels::rms_norm_rows(), out);
  append_rows("rope", kernels::rope_rows(), out);
  append_rows("attention", kernels::attention_rows(), out);
  append_rows("elementwise", kernels::elementwise_rows(), out);
  return out;
}

std::string as_text(const Capabilities& cpu, bool with_kernels) {
  std::string out = fmt::format(
      "{:<6} {}\n"
      "       kernels {}, {} threads, shares memory with the host\n"
      "       processor offers {}\n",
      cpu.name, cpu.description, cpu.isa, cpu.n_threads, CpuFeatures::detect().to_string());
  if (!with_kernels) return out;
  out += fmt::format("\n{:<12} {:<12} {:<5} {}\n", "op", "isa", "runs", "kernel");
  for (const KernelName& k : all_kernels()) {
    out += fmt::format("{:<12} {:<12} {:<5} {}\n", k.op, kernels::to_string(k.isa),
                       can_run(k.isa) ? "yes" : "no", k.name);
  }
  return out;
}

std::string as_json(const Capabilities& cpu, bool with_kernels) {
  nlohmann::ordered_json device{{"name", cpu.name},
                                {"description", cpu.description},
                                {"isa", cpu.isa},
                                {"threads", cpu.n_threads},
                                {"shares_memory", cpu.shares_memory},
                                {"simulated", cpu.simulated},
                                {"features", CpuFeatures::detect().to_string()}};
  if (with_kernels) {
    for (const KernelName& k : all_kernels()) {
      device["kernels"].push_back({{"op", k.op},
                                   {"name", k.name},
                                   {"isa", kernels::to_string(k.isa)},
                                   {"runs", can_run(k.isa)}});
    }
  }
  const nlohmann::ordered_json document{{"schema", "tandem.devices.v1"},
                                        {"devices", {std::move(device)}}};
  // A processor's name is the system's text, which JSON may not be able to carry.
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<void> run(const DevicesFlags& flags) {
  TANDEM_TRY(const auto device, make_cpu_device());
  return write_output(flags.json ? as_json(device->describe(), flags.kernels)
                                 : as_text(device->describe(), flags.kernels));
}

}  // namespace

void add_devices_command(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<DevicesFlags>();
  CLI::App* command = app.add_subcommand("devices", "List what can execute a model here");
  command->add_flag("--kernels", flags->kernels, "List every kernel of this build");
  command->add_flag("--json", flags->json, "Print JSON (schema tandem.devices.v1)");
  command->footer(
      "Examples:\n"
      "  tandem devices\n"
      "  tandem devices --kernels --json");
  command->callback([flags, &context] { context.finish(run(*flags)); });
}

}  // namespace tandem::cli
