// `tandem soc`: the SoC profiles that the simulator knows, and how far it is from published
// figures.

#include "cli/soc_command.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "cli/progress.h"
#include "cli/text_table.h"
#include "published/fit.h"
#include "soc/profile_reader.h"

namespace tandem::cli {
namespace {

using Json = nlohmann::ordered_json;

struct SocFlags {
  std::string name;
  bool check_published = false;
  bool leave_one_out = false;
  bool fit = false;
  std::string rows;
  bool json = false;
};

size_t count_estimated(const soc::SocProfile& profile) {
  size_t out = 0;
  for (const soc::Figure& figure : profile.figures) out += figure.estimated ? 1 : 0;
  return out;
}

Json to_json(const soc::SocProfile& profile, bool with_figures) {
  Json out{{"name", profile.name},
           {"title", profile.title},
           {"updated", profile.updated},
           {"what_if", profile.what_if},
           {"n_figures", profile.figures.size()},
           {"n_estimated", count_estimated(profile)},
           {"npus", Json::array()},
           {"variants", Json::array()}};
  for (const soc::NpuProfile& npu : profile.npus) {
    out["npus"].push_back({{"name", npu.name}, {"driver", npu.driver}});
  }
  for (const soc::Variant& variant : profile.variants) out["variants"].push_back(variant.name);
  if (!with_figures) return out;
  for (const soc::Figure& figure : profile.figures) {
    out["figures"].push_back({{"path", figure.path},
                              {"value", figure.value},
                              {"source", figure.source},
                              {"estimated", figure.estimated}});
  }
  return out;
}

std::string npu_names(const soc::SocProfile& profile) {
  std::string out;
  for (const soc::NpuProfile& npu : profile.npus) out += (out.empty() ? "" : ", ") + npu.name;
  return out.empty() ? "none" : out;
}

Result<std::string> list_profiles(const SocFlags& flags) {
  Json document{{"schema", "tandem.soc.v1"}, {"profiles", Json::array()}};
  TextTable table("lllr");
  table.add({"profile", "part", "NPU", "figures (estimated)"});
  for (const std::string& name : soc::builtin_profile_names()) {
    TANDEM_TRY(const soc::SocProfile profile, soc::find_profile(name));
    document["profiles"].push_back(to_json(profile, false));
    table.add({name, profile.title, npu_names(profile),
               fmt::format("{} ({})", profile.figures.size(), count_estimated(profile))});
  }
  return flags.json ? document.dump(2) + "\n" : table.to_string(0);
}

Result<std::string> show_profile(const SocFlags& flags) {
  TANDEM_TRY(const soc::SocProfile profile, soc::find_profile(flags.name));
  if (flags.json) {
    Json document{{"schema", "tandem.soc.v1"}, {"profiles", {to_json(profile, true)}}};
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  TextTable table("lrll");
  table.add({"figure", "value", "", "source"});
  for (const soc::Figure& figure : profile.figures) {
    table.add({figure.path, fmt::format("{:g}", figure.value), figure.estimated ? "estimated" : "",
               figure.source});
  }
  return fmt::format("{}\n{}\n", profile.title, table.to_string(0));
}

std::string as_text(const std::vector<published::Row>& rows,
                    const std::vector<published::Comparison>& comparisons) {
  TextTable table("lllllrrrl");
  table.add({"soc", "variant", "unit", "model", "figure", "published", "simulated", "error", ""});
  for (const published::Comparison& c : comparisons) {
    const published::Row& row = rows[c.row];
    table.add({row.soc, row.variant, row.unit,
               row.model + (c.guessed_sizes ? " (sizes guessed)" : ""), c.quantity,
               fmt::format("{:.4g}", c.published), fmt::format("{:.4g}", c.simulated),
               fmt::format("{:+.1f} %", 100 * c.error()), c.judged ? "" : "context only"});
  }
  return table.to_string(0);
}

Json to_json(const std::vector<published::Row>& rows,
             const std::vector<published::Comparison>& comparisons) {
  Json out = Json::array();
  for (const published::Comparison& c : comparisons) {
    const published::Row& row = rows[c.row];
    out.push_back({{"soc", row.soc},
                   {"variant", row.variant},
                   {"unit", row.unit},
                   {"model", row.model},
                   {"guessed_sizes", c.guessed_sizes},
                   {"figure", c.quantity},
                   {"published", c.published},
                   {"simulated", c.simulated},
                   {"error", c.error()},
                   {"judged", c.judged},
                   {"source", row.source}});
  }
  return out;
}

std::string as_text(const std::vector<published::Row>& rows,
                    const std::vector<published::Skipped>& skipped) {
  std::string out;
  for (const published::Skipped& s : skipped) {
    out += fmt::format("line {} ({} {} {}) is not simulated: {}\n", rows[s.row].line,
                       rows[s.row].soc, rows[s.row].variant, rows[s.row].model, s.why);
  }
  return out;
}

Json to_json(const std::vector<published::Row>& rows,
             const std::vector<published::Skipped>& skipped) {
  Json out = Json::array();
  for (const published::Skipped& s : skipped) {
    out.push_back({{"line", rows[s.row].line}, {"soc", rows[s.row].soc}, {"why", s.why}});
  }
  return out;
}

Json to_json(const published::Summary& s) {
  return {{"speed_figures", s.speed_count},         {"speed_median_error", s.speed_median},
          {"speed_worst_error", s.speed_worst},     {"energy_figures", s.energy_count},
          {"energy_median_error", s.energy_median}, {"energy_worst_error", s.energy_worst}};
}

std::string as_text(const published::Summary& s) {
  std::string out = fmt::format("speed: {} figures, median error {:.1f} %, worst {:.1f} %\n",
                                s.speed_count, 100 * s.speed_median, 100 * s.speed_worst);
  if (s.energy_count == 0) return out;
  return out + fmt::format("energy: {} figures, median error {:.1f} %, worst {:.1f} %\n",
                           s.energy_count, 100 * s.energy_median, 100 * s.energy_worst);
}

std::string fit_families(published::Calibration& calibration) {
  std::string out;
  for (const published::Family& family : published::families()) {
    const std::vector<double> values = published::fit(calibration, family);
    out += fmt::format("{}*:", family.prefix);
    for (size_t i = 0; i < values.size(); ++i) {
      out += fmt::format(" {} {:.4g}", family.parameters[i].name, values[i]);
    }
    out += "\n";
  }
  return out + "\n";
}

Result<std::vector<published::Row>> load_rows(const std::string& path) {
  if (path.empty()) {
    return published::parse_rows(published::builtin_rows(), "profiles/published_npu_llm.csv");
  }
  TANDEM_TRY(const auto file, MappedFile::open(path));
  const auto bytes = file->bytes();
  return published::parse_rows({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

std::vector<published::Comparison> leave_out(const published::Calibration& calibration,
                                             published::LeftOut what) {
  ProgressBar progress("fitting without what is predicted");
  return published::leave_out(calibration, what,
                              [&](size_t done) { progress.update(done, calibration.rows.size()); });
}

Result<std::string> check_published(const SocFlags& flags) {
  TANDEM_TRY(auto rows, load_rows(flags.rows));
  TANDEM_TRY(published::Calibration calibration, published::load_calibration(std::move(rows)));
  std::string fitted;
  if (flags.fit) fitted = fit_families(calibration);
  const auto [comparisons, skipped] = published::check(calibration);
  const published::Summary summary = published::summarize(comparisons);
  std::vector<published::Comparison> unseen, unseen_soc;
  if (flags.leave_one_out) {
    unseen = leave_out(calibration, published::LeftOut::kRow);
    unseen_soc = leave_out(calibration, published::LeftOut::kSoc);
  }
  if (flags.json) {
    Json document{{"schema", "tandem.soc_check.v1"},
                  {"simulated", true},
                  {"figures", to_json(calibration.rows, comparisons)},
                  {"skipped", to_json(calibration.rows, skipped)},
                  {"summary", to_json(summary)}};
    if (flags.leave_one_out) {
      document["leave_one_out"] = {{"figures", to_json(calibration.rows, unseen)},
                                   {"summary", to_json(published::summarize(unseen))}};
      document["leave_one_soc_out"] = {{"figures", to_json(calibration.rows, unseen_soc)},
                                       {"summary", to_json(published::summarize(unseen_soc))}};
    }
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  std::string out = fitted + "Simulated figures beside published ones\n\n" +
                    as_text(calibration.rows, comparisons) + as_text(calibration.rows, skipped) +
                    "\n" + as_text(summary);
  if (flags.leave_one_out) {
    out += "\nThe same, each row predicted with parameters fitted without it\n\n" +
           as_text(calibration.rows, unseen) + "\n" + as_text(published::summarize(unseen)) +
           "\nThe same, each row predicted with parameters fitted without any of its SoC\n\n" +
           as_text(calibration.rows, unseen_soc) + "\n" + as_text(published::summarize(unseen_soc));
  }
  return out;
}

Result<void> run(const SocFlags& flags) {
  if ((flags.fit || flags.leave_one_out || !flags.rows.empty()) && !flags.check_published) {
    return failure(ErrorCode::kInvalidArgument,
                   "--fit, --leave-one-out and --rows go with --check-published");
  }
  if (flags.check_published && !flags.name.empty()) {
    return failure(ErrorCode::kInvalidArgument,
                   "--check-published looks at every profile; it takes no name");
  }
  const auto text = flags.check_published ? check_published(flags)
                    : flags.name.empty()  ? list_profiles(flags)
                                          : show_profile(flags);
  if (!text) return tl::unexpected<Error>(text.error());
  return write_output(*text);
}

}  // namespace

void add_soc_command(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<SocFlags>();
  CLI::App* command = app.add_subcommand(
      "soc", "Show SoC profiles and how close the simulator is to published figures");
  command->add_option("profile", flags->name,
                      "A profile's name or file; every profile when absent");
  command->add_flag("--check-published", flags->check_published,
                    "Compare simulated with published speed and energy");
  command->add_flag("--leave-one-out", flags->leave_one_out,
                    "Also predict each row with parameters fitted without it, and without its SoC");
  command->add_flag("--fit", flags->fit,
                    "Fit the families' shared parameters first, and print them");
  command->add_option("--rows", flags->rows, "Published rows from this CSV file");
  command->add_flag("--json", flags->json,
                    "Print JSON (schemas tandem.soc.v1, tandem.soc_check.v1)");
  command->footer(
      "Examples:\n"
      "  tandem soc\n"
      "  tandem soc snapdragon-8-gen-3\n"
      "  tandem soc --check-published --leave-one-out");
  command->callback([flags, &context] { context.finish(run(*flags)); });
}

}  // namespace tandem::cli
