// `tandem doctor`: what this machine offers and what is missing.

#include "cli/doctor_command.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/cpu_features.h"
#include "cli/machine.h"
#include "device/cpu/cpu_device.h"

namespace tandem::cli {
namespace {

std::vector<Finding> findings() {
  std::vector<Finding> out{{"processor", true, processor_name()},
                           {"threads", true, fmt::format("{} usable", usable_processors())},
                           {"instruction sets", best_isa() != kernels::Isa::kScalar,
                            fmt::format("{}; kernels in use: {}", CpuFeatures::detect().to_string(),
                                        kernels::to_string(best_isa()))}};
  for (Finding& f : examine_machine("/")) out.push_back(std::move(f));
  for (Finding& f : examine_vendor_libraries()) out.push_back(std::move(f));
  return out;
}

std::string as_json(const std::vector<Finding>& all) {
  nlohmann::ordered_json document{{"schema", "tandem.doctor.v1"},
                                  {"findings", nlohmann::ordered_json::array()}};
  for (const Finding& f : all) {
    document["findings"].push_back(
        {{"subject", f.subject}, {"present", f.present}, {"detail", f.detail}});
  }
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string as_text(const std::vector<Finding>& all) {
  std::string out;
  for (const Finding& f : all) {
    out += fmt::format("[{}] {:<24} {}\n", f.present ? "ok" : "--", f.subject, f.detail);
  }
  return out;
}

}  // namespace

void add_doctor_command(CLI::App& app, CommandContext& context) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("doctor", "Show what this machine offers and lacks");
  command->add_flag("--json", *json, "Print JSON (schema tandem.doctor.v1)");
  command->footer(
      "Examples:\n"
      "  tandem doctor\n"
      "  tandem doctor --json");
  command->callback([json, &context] {
    const std::vector<Finding> all = findings();
    context.finish(write_output(*json ? as_json(all) : as_text(all)));
  });
}

}  // namespace tandem::cli
