#include "cli/run_stats.h"

#include <fmt/format.h>

#include <fstream>

#include "planner/report.h"

namespace tandem::cli {
namespace {

double rate(double count, double seconds) { return seconds > 0 ? count / seconds : 0; }

}  // namespace

uint64_t peak_resident_bytes() {
  std::ifstream in("/proc/self/status");
  for (std::string word; in >> word;) {
    if (word != "VmHWM:") continue;
    uint64_t kib = 0;
    in >> kib;
    return kib * 1024;
  }
  return 0;
}

RunStats RunStats::collect(const Engine& engine, const Sampler& sampler, double load_seconds,
                           GenerationResult result, uint32_t n_reused) {
  const Capabilities& device = engine.device().describe();
  RunStats out{
      .model = engine.model().metadata().string_or("general.name", "unnamed").value_or("?"),
      .device = fmt::format("{}: {}, {}, {} threads", device.name, device.description, device.isa,
                            device.n_threads),
      .load_seconds = load_seconds,
      .seed = sampler.seed(),
      .result = std::move(result),
      .n_reused = n_reused,
      .weight_bytes_per_step = engine.weight_bytes_per_step(),
      .peak_resident_bytes = cli::peak_resident_bytes(),
      .incidents = engine.incidents()};
  const Plan& plan = engine.plan();
  out.simulated = device.soc;
  out.compile_seconds = engine.simulated().compile_seconds;
  out.wake_seconds = engine.simulated().wake_seconds;
  for (const PhasePlan& phase : plan.phases) {
    if (plan.devices.size() < 2) break;
    const auto counted = count_delegation(plan, phase, engine.graph(phase.phase));
    out.delegation.push_back(fmt::format("{} of {} rows: {}, {} copied", to_string(phase.phase),
                                         phase.shape.max_tokens, counted.headline(),
                                         format_bytes(phase.copied_bytes)));
  }
  return out;
}

std::string RunStats::simulated_line() const {
  const double n_decoded = static_cast<double>(result.tokens.size()) - 1;
  return fmt::format(
      "simulated: {}: first token {}, prefill {:.1f} tokens/s and {:.2f} mJ/token, decode {:.2f} "
      "tokens/s and {:.2f} mJ/token; {} compiling, {} waking\n",
      simulated, format_seconds(result.first_token_seconds), prefill_rate(),
      result.n_prompt > 0 ? result.prompt_joules * 1e3 / result.n_prompt : 0, decode_rate(),
      n_decoded > 0 ? result.decode_joules * 1e3 / n_decoded : 0, format_seconds(compile_seconds),
      format_seconds(wake_seconds));
}

std::string RunStats::incident_lines() const {
  std::string out;
  for (const Incident& i : incidents) {
    out += fmt::format("{} was given up in {} at position {}: {}: {}; the processor went on\n",
                       i.device, to_string(i.phase), i.position, to_string(i.reason.code),
                       i.reason.sentence);
    if (i.suspect_from < i.position) {
      out +=
          fmt::format("the text is suspect from position {} to {}\n", i.suspect_from, i.position);
    }
  }
  return out;
}

double RunStats::prefill_rate() const { return rate(result.n_prompt, result.prompt_seconds); }

double RunStats::decode_rate() const {
  const double n_after_first = static_cast<double>(result.tokens.size()) - 1;
  return n_after_first > 0 ? rate(n_after_first, result.decode_seconds) : 0;
}

double RunStats::streamed_gb_per_second() const {
  return decode_rate() * static_cast<double>(weight_bytes_per_step) / 1e9;
}

std::string RunStats::to_text() const {
  std::string out = fmt::format("model    {}\ndevice   {}\n", model, device);
  for (const std::string& line : delegation) out += fmt::format("plan     {}\n", line);
  out += incident_lines();
  if (simulated.empty()) {
    out += fmt::format(
        "load     {:.3f} s\n"
        "first    {:.3f} s to the first token\n"
        "prefill  {} tokens, {:.1f} tokens/s, {} more from the cache\n"
        "decode   {} tokens, {:.1f} tokens/s, {:.2f} GB/s of weights\n",
        load_seconds, result.first_token_seconds, result.n_prompt, prefill_rate(), n_reused,
        result.tokens.size(), decode_rate(), streamed_gb_per_second());
  } else {
    out += simulated_line();
  }
  return out + fmt::format(
                   "memory   {:.1f} MB at most\n"
                   "seed     {}\n"
                   "logits   {:016x} (hash of the last)\n",
                   peak_resident_bytes / 1e6, seed, result.logits_hash);
}

nlohmann::ordered_json RunStats::to_json() const {
  nlohmann::ordered_json out{{"model", model},
                             {"device", device},
                             {"load_seconds", load_seconds},
                             {"first_token_seconds", result.first_token_seconds},
                             {"prefill_tokens", result.n_prompt},
                             {"prefill_tokens_per_second", prefill_rate()},
                             {"reused_tokens", n_reused},
                             {"decode_tokens", result.tokens.size()},
                             {"decode_tokens_per_second", decode_rate()},
                             {"weight_gb_per_second", streamed_gb_per_second()},
                             {"peak_resident_bytes", peak_resident_bytes},
                             {"seed", seed},
                             {"logits_hash", fmt::format("{:016x}", result.logits_hash)}};
  if (!simulated.empty()) {
    // Every time above is the chip's then; loading is this machine's and left out.
    out.erase("load_seconds");
    out["simulated"] = simulated;
    out["compile_seconds"] = compile_seconds;
    out["wake_seconds"] = wake_seconds;
    out["prefill_joules"] = result.prompt_joules;
    out["decode_joules"] = result.decode_joules;
  }
  if (!delegation.empty()) out["delegation"] = delegation;
  for (const Incident& i : incidents) {
    out["incidents"].push_back({{"device", i.device},
                                {"reason", to_string(i.reason.code)},
                                {"sentence", i.reason.sentence},
                                {"phase", to_string(i.phase)},
                                {"position", i.position},
                                {"suspect_from", i.suspect_from}});
  }
  return out;
}

}  // namespace tandem::cli
