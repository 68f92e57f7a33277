#include "cli/run_stats.h"

#include <fmt/format.h>

#include <fstream>

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
  return {.model = engine.model().metadata().string_or("general.name", "unnamed").value_or("?"),
          .device = fmt::format("{}: {}, {}, {} threads", device.name, device.description,
                                device.isa, device.n_threads),
          .load_seconds = load_seconds,
          .seed = sampler.seed(),
          .result = std::move(result),
          .n_reused = n_reused,
          .weight_bytes_per_step = engine.weight_bytes_per_step(),
          .peak_resident_bytes = cli::peak_resident_bytes()};
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
  return fmt::format(
      "model    {}\n"
      "device   {}\n"
      "load     {:.3f} s\n"
      "first    {:.3f} s to the first token\n"
      "prefill  {} tokens, {:.1f} tokens/s, {} more from the cache\n"
      "decode   {} tokens, {:.1f} tokens/s, {:.2f} GB/s of weights\n"
      "memory   {:.1f} MB at most\n"
      "seed     {}\n"
      "logits   {:016x} (hash of the last)\n",
      model, device, load_seconds, result.first_token_seconds, result.n_prompt, prefill_rate(),
      n_reused, result.tokens.size(), decode_rate(), streamed_gb_per_second(),
      peak_resident_bytes / 1e6, seed, result.logits_hash);
}

nlohmann::ordered_json RunStats::to_json() const {
  return {{"model", model},
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
}

}  // namespace tandem::cli
