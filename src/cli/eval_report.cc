// What `tandem eval` prints.

#include "cli/eval_report.h"

#include <fmt/format.h>

namespace tandem::cli {
namespace {

std::string with_interval(const Measured& m, const char* unit = "", double factor = 1) {
  return fmt::format("{:.5g} ± {:.2g}{}   95 %: {:.5g} to {:.5g}", m.value * factor,
                     m.standard_error * factor, unit, m.interval.low * factor,
                     m.interval.high * factor);
}

std::string divergence_text(const TextFigures::Divergence& d, const std::string& reference) {
  std::string out =
      fmt::format("reference      {}, perplexity {:.5g}\n", reference, d.reference_perplexity);
  out += fmt::format("ratio          {}\n", with_interval(d.perplexity_ratio));
  out += fmt::format("KL mean        {} (nats, KL(reference || model))\n", with_interval(d.mean));
  out += fmt::format("KL median      {}\n", with_interval(d.median));
  out += fmt::format("KL 99 %        {}\n", with_interval(d.percentile_99));
  out += fmt::format("KL max         {:.5g}\n", d.max);
  out += fmt::format("same top token {}\n", with_interval(d.same_top, " %", 100));
  return out;
}

std::string text_text(const EvaluationReport& report) {
  const TextReport& text = *report.text;
  std::string out =
      fmt::format("text           {}: {} tokens, {} documents, {} windows, {:.1f} s\n", text.path,
                  text.n_tokens, text.n_documents, text.n_windows, text.seconds);
  if (!text.figures) return out + "perplexity     none: " + text.reason + "\n";
  const TextFigures& f = *text.figures;
  out += fmt::format("perplexity     {}\n", with_interval(f.perplexity));
  out += fmt::format("               {}\n", text.definition);
  out +=
      fmt::format("scored         {} tokens, {:.4f} bits per byte\n", f.n_scored, f.bits_per_byte);
  if (text.windows.mode == WindowMode::kLlamaCpp) {
    out +=
        fmt::format("llama.cpp's ±  {:.5f} (takes tokens for independent)\n", f.independent_error);
  }
  if (f.divergence) out += divergence_text(*f.divergence, report.reference);
  out += fmt::format(
      "intervals      block bootstrap: blocks of {} tokens, {} draws, seed {}; ± from batch "
      "means\n",
      f.block, report.bootstrap.n_resamples, report.bootstrap.seed);
  return out;
}

std::string task_text(const TaskFigures& task) {
  std::string out =
      fmt::format("{:<14} {}/{} = {:5.1f} %   95 %: {:.1f} to {:.1f}\n", task.name, task.n_right,
                  task.n, 100.0 * static_cast<double>(task.n_right) / static_cast<double>(task.n),
                  100 * task.interval.low, 100 * task.interval.high);
  if (task.n_cut > 0) out += fmt::format("               {} answers cut off\n", task.n_cut);
  if (!task.paired) return out;
  return out +
         fmt::format(
             "               paired: only this run right {}, only the other {}; {:+.2f} points,"
             " 95 %: {:+.2f} to {:+.2f}; McNemar p = {:.3f}\n",
             task.paired->only_this, task.paired->only_other, 100 * task.paired->difference,
             100 * task.paired->interval.low, 100 * task.paired->interval.high,
             task.paired->p_value);
}

}  // namespace

std::string evaluation_text(const EvaluationReport& report) {
  std::string out =
      fmt::format("model          {}{}: {:.1f} M weights, {:.3f} bits per weight, {:.1f} MB\n",
                  report.model, report.precision.empty() ? "" : " at " + report.precision,
                  static_cast<double>(report.size.n_weights) * 1e-6, report.size.bits_per_weight(),
                  static_cast<double>(report.size.file_bytes) * 1e-6);
  if (report.text) out += text_text(report);
  for (const TaskFigures& task : report.tasks) out += task_text(task);
  if (!report.against.empty() && !report.tasks.empty()) {
    out += fmt::format("the other run  {}\n", report.against);
  }
  return out;
}

}  // namespace tandem::cli
