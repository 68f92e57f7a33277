// `tandem synth`: models of real size with random or grown weights.

#include "cli/synth_command.h"

#include <fmt/format.h>

#include <memory>

#include "cli/embedded_model.h"
#include "cli/progress.h"
#include "formats/gguf_reader.h"
#include "synth/grow.h"
#include "synth/synthesize.h"

namespace tandem::cli {
namespace {

struct SynthFlags {
  std::string shape;
  std::string type = "F16";
  std::string output;
  std::string tokenizer;
  std::string grow;
  uint64_t seed = 1;
  int threads = 0;
  double top_probability = SynthOptions{}.mean_top_probability;
  bool list = false;
};

Result<void> print_shapes() {
  std::string out =
      fmt::format("{:<16} {:<10} {:>6} {:>6} {:>6} {:>9} {:>6} {:>10}\n", "shape", "arch", "layers",
                  "width", "heads", "kv heads", "ffn", "vocabulary");
  for (const ModelShape& s : known_shapes()) {
    out +=
        fmt::format("{:<16} {:<10} {:>6} {:>6} {:>6} {:>9} {:>6} {:>10}\n", s.name, s.architecture,
                    s.n_layers, s.width, s.n_heads, s.n_kv_heads, s.ffn_width, s.vocabulary);
  }
  return write_output(out);
}

Result<ModelFile> open_file_or_embedded(const std::string& path) {
  return path.empty() || path == "demo" ? parse_gguf(embedded_model()) : open_gguf(path);
}

Result<void> run_grow(const SynthFlags& flags, const ModelShape& shape, const WeightTypes& types) {
  TANDEM_TRY(ModelFile file, open_file_or_embedded(flags.grow));
  TANDEM_TRY(const auto source, Model::from_file(std::move(file)));
  ProgressBar progress("writing");
  TANDEM_TRY(grow(flags.output, *source,
                  {.shape = shape,
                   .types = types,
                   .seed = flags.seed,
                   .n_threads = flags.threads,
                   .progress = [&](uint64_t d, uint64_t t) { progress.update(d, t); }}));
  progress.clear();
  return print("{}: {} grown to {}\n", flags.output, flags.grow, shape.name);
}

Result<void> run_random(const SynthFlags& flags, const ModelShape& shape,
                        const WeightTypes& types) {
  TANDEM_TRY(const ModelFile vocabulary, open_file_or_embedded(flags.tokenizer));
  ProgressBar progress("writing");
  SynthOptions options{.shape = shape,
                       .types = types,
                       .seed = flags.seed,
                       .n_threads = flags.threads,
                       .vocabulary = &vocabulary.metadata,
                       .mean_top_probability = flags.top_probability,
                       .progress = [&](uint64_t d, uint64_t t) { progress.update(d, t); }};
  TANDEM_TRY(const SynthReport report, synthesize(flags.output, options));
  progress.clear();
  std::string text = fmt::format("{}: {} with random weights", flags.output, shape.name);
  if (report.mean_top_probability > 0) {
    text += fmt::format(", mean top-1 probability {:.2f}", report.mean_top_probability);
  }
  return write_output(text + "\n");
}

Result<void> run(const SynthFlags& flags) {
  if (flags.list) return print_shapes();
  if (flags.shape.empty() || flags.output.empty()) {
    return failure(ErrorCode::kInvalidArgument, "--shape and --output are needed (or --list)");
  }
  const bool is_probability = flags.top_probability >= 0 && flags.top_probability < 1;
  if (!is_probability) {
    return failure(ErrorCode::kInvalidArgument, "--top-probability is {}, must be in [0, 1)",
                   flags.top_probability);
  }
  TANDEM_TRY(const ModelShape shape, find_shape(flags.shape));
  TANDEM_TRY(const WeightTypes types, WeightTypes::parse(flags.type));
  return flags.grow.empty() ? run_random(flags, shape, types) : run_grow(flags, shape, types);
}

}  // namespace

void add_synth_command(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<SynthFlags>();
  CLI::App* command =
      app.add_subcommand("synth", "Write a model of real size with random or grown weights");
  command->add_option("--shape", flags->shape, "Sizes of a real model, for instance Qwen3-0.6B");
  command->add_option("-o,--output", flags->output, "GGUF file to write");
  command->add_option("--type", flags->type, "Format of the matrices: F16, Q8_0, Q4_0, Q4_K_M, ...")
      ->capture_default_str();
  command->add_option("--tokenizer", flags->tokenizer,
                      "GGUF file whose vocabulary to copy (default: the demo model's)");
  command->add_option("--grow", flags->grow,
                      "Pad this trained model instead (a GGUF file, or demo)");
  command->add_option("--seed", flags->seed, "Seed of the weights")->capture_default_str();
  command
      ->add_option("--top-probability", flags->top_probability,
                   "Scale the head to this mean top-1 probability; 0 leaves it")
      ->capture_default_str();
  command->add_option("-t,--threads", flags->threads, "Threads; 0: all processors")
      ->check(CLI::Range(0, 256))
      ->capture_default_str();
  command->add_flag("--list", flags->list, "List the known shapes");
  command->footer(
      "Examples:\n"
      "  tandem synth --list\n"
      "  tandem synth --shape Llama-3.2-1B --type Q4_K_M -o llama-1b.gguf\n"
      "  tandem synth --grow demo --shape Qwen3-0.6B --type F16 -o grown.gguf");
  command->callback([flags, &context] { context.finish(run(*flags)); });
}

}  // namespace tandem::cli
