#include "cli/convert_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/text_table.h"

namespace tandem::cli {
namespace {

uint64_t size_of(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

/// Tensors of one format together; errors are the mean of the tensors', by weights.
struct FormatTotals {
  uint64_t n_tensors = 0, n_weights = 0, n_bytes = 0;
  double error_high = 0, error_both = 0;
};

std::map<std::string, FormatTotals> totals_of(const ConvertReport& report) {
  std::map<std::string, FormatTotals> out;
  for (const ConvertedTensor& t : report.tensors) {
    FormatTotals& f = out[t.shift == 0 ? t.to : fmt::format("{} e={}", t.to, t.shift)];
    ++f.n_tensors;
    f.n_weights += t.n_weights;
    f.n_bytes += t.n_bytes;
    f.error_high += t.error_high * static_cast<double>(t.n_weights);
    f.error_both += t.error_both * static_cast<double>(t.n_weights);
  }
  return out;
}

std::string percent(double share) { return fmt::format("{:.3f} %", 100 * share); }

/// The table of choices.
std::string mixed_text(const MixedPlan& plan) {
  TextTable table("llr");
  table.add({"matrix", "format", "KL alone"});
  for (const MixedChoice& c : plan.choices) {
    table.add({c.name, c.format.name(), fmt::format("{:.6f}", c.kl)});
  }
  return fmt::format("{}KL of all together: {:.6f} nats measured, {:.6f} predicted\n",
                     table.to_string(2), plan.measured_kl, plan.predicted_kl);
}

std::string listed(const char* what, const std::vector<std::string>& names) {
  return names.empty() ? ""
                       : fmt::format("{} {}: {}\n", names.size(), what, fmt::join(names, ", "));
}

}  // namespace

std::string convert_text(const ConvertResult& r) {
  TextTable table("lrrrrrr");
  table.add({"format", "tensors", "weights", "MB", "bits/weight", "INT4 error", "INT8 error"});
  for (const auto& [name, f] : totals_of(r.report)) {
    const double n = static_cast<double>(f.n_weights);
    const bool nested = name.starts_with("nested");
    table.add({name, fmt::to_string(f.n_tensors), fmt::to_string(f.n_weights),
               fmt::format("{:.1f}", static_cast<double>(f.n_bytes) / 1e6),
               fmt::format("{:.2f}", 8.0 * static_cast<double>(f.n_bytes) / n),
               nested ? percent(f.error_high / n) : "", percent(f.error_both / n)});
  }
  std::string out = fmt::format("{}: from {}\n{}", r.output, r.source_format, table.to_string(2));
  out += fmt::format("{:.1f} MB, {:.2f} bits a weight",
                     static_cast<double>(size_of(r.output) + size_of(r.sidecar)) / 1e6,
                     r.report.bits_per_weight());
  out += r.sidecar.empty() ? "\n" : fmt::format("; low planes in {}\n", r.sidecar);
  if (r.mixed) out += mixed_text(*r.mixed);
  out += listed("matrices are in another format, their rows being no whole blocks",
                r.report.fallbacks);
  out += listed("nested tensors without importance", r.report.without_importance);
  return out;
}

std::string convert_json(const ConvertResult& r) {
  nlohmann::ordered_json out{{"schema", "tandem.convert.v1"},
                             {"output", r.output},
                             {"sidecar", nullptr},
                             {"source_format", r.source_format},
                             {"file_bytes", size_of(r.output)},
                             {"sidecar_bytes", r.sidecar.empty() ? 0 : size_of(r.sidecar)},
                             {"weights", r.report.n_weights()},
                             {"bits_per_weight", r.report.bits_per_weight()},
                             {"fallbacks", r.report.fallbacks},
                             {"without_importance", r.report.without_importance},
                             {"tensors", nlohmann::ordered_json::array()}};
  if (!r.sidecar.empty()) out["sidecar"] = r.sidecar;
  for (const ConvertedTensor& t : r.report.tensors) {
    out["tensors"].push_back({{"name", t.name},
                              {"from", t.from},
                              {"to", t.to},
                              {"weights", t.n_weights},
                              {"bytes", t.n_bytes},
                              {"exponent", t.shift},
                              {"weighted", t.weighted},
                              {"error_int4", t.error_high},
                              {"error_int8", t.error_both}});
  }
  if (r.mixed) {
    out["mixed"] = {{"measured_kl", r.mixed->measured_kl},
                    {"predicted_kl", r.mixed->predicted_kl},
                    {"choices", nlohmann::ordered_json::array()}};
    for (const MixedChoice& c : r.mixed->choices) {
      out["mixed"]["choices"].push_back(
          {{"name", c.name}, {"format", c.format.name()}, {"kl", c.kl}});
    }
  }
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
  return out.dump(2, ' ', false, kReplace) + "\n";
}

}  // namespace tandem::cli
