// `tandem convert`: a checkpoint in any format we read becomes one GGUF file.

#include "cli/convert_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "cli/convert_report.h"
#include "cli/progress.h"
#include "formats/nested_section.h"
#include "model/model.h"
#include "quantize/convert.h"
#include "quantize/metadata_edits.h"
#include "quantize/mixed_precision.h"
#include "quantize/rotation.h"
#include "sources/open_weight_source.h"
#include "text/chat_template/chat_template.h"

namespace tandem::cli {
namespace {

struct ConvertFlags {
  std::string source, output;
  std::string quant = "nested";
  std::vector<std::string> rules, keys, wide_activations;
  uint32_t exponent = NestedSettings{}.shift;
  std::string calibrate, imatrix, chat_template, original, budget;
  double max_kl = 0;
  uint32_t sensitivity_tokens = SensitivityMeter::Options{}.max_tokens;
  uint32_t calibrate_tokens = CalibrationOptions{}.max_tokens;
  uint32_t context_window = 0;
  int threads = 0;
  bool no_feedback = false, require_importance = false, strip = false, sidecar = false,
       rotate = false, json = false;
};

using Source = std::unique_ptr<const WeightSource>;

Result<Source> open_source(const std::string& path) {
  return open_weight_source(path, {.log = print_warning});
}

Result<std::string> read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string out{std::istreambuf_iterator<char>(in), {}};
  if (in.good() || in.eof()) return out;
  return failure(ErrorCode::kNotFound, "{}: cannot read", path);
}

Result<Metadata> edited_metadata(const WeightSource& source, const ConvertFlags& flags) {
  Metadata out = source.metadata();
  if (!flags.chat_template.empty()) {
    TANDEM_TRY(std::string text, read_text(flags.chat_template));
    const auto parsed = ChatTemplate::parse(text);
    if (!parsed) return tl::unexpected(parsed.error().within(flags.chat_template));
    out.set("tokenizer.chat_template", std::move(text));
  }
  if (flags.context_window != 0) TANDEM_TRY(set_context_window(flags.context_window, out));
  for (const std::string& key : flags.keys) TANDEM_TRY(apply_key_edit(key, out));
  return out;
}

/// A model that can be run: the source itself, or what it is at 16 bits, for the time being.
Result<std::shared_ptr<const Model>> runnable(const WeightSource& source,
                                              const ConvertFlags& flags) {
  if (source.format().starts_with("GGUF")) return Model::load(source.metadata().source());
  const std::string temporary = flags.output + ".calibration.tmp";
  ProgressBar bar("reading");
  ConvertOptions options;
  options.formats.matrices = {DType::kF16, false};
  options.n_threads = flags.threads;
  options.progress = [&](uint64_t d, uint64_t t) { bar.update(d, t); };
  TANDEM_TRY(convert(source, temporary, source.metadata(), options));
  auto model = Model::load(temporary);
  // The mapping keeps the bytes.
  unlink(temporary.c_str());
  return model;
}

/// A file that goes when this does.
struct TemporaryFile {
  std::string path;
  ~TemporaryFile() { unlink(path.c_str()); }
};

/// The rotated model in F32, written out first: calibration must run it, and columns rotate whole.
Result<Source> rotated(const WeightSource& source, const ConvertFlags& flags,
                       const TemporaryFile& file) {
  TANDEM_TRY(const Source rotating, rotate_weights(source));
  ProgressBar bar("rotating");
  ConvertOptions options;
  options.formats.matrices = {DType::kF32, false};
  options.n_threads = flags.threads;
  options.progress = [&](uint64_t d, uint64_t t) { bar.update(d, t); };
  TANDEM_TRY(convert(*rotating, file.path, rotating->metadata(), options));
  return open_source(file.path);
}

/// "4.8bpw", "4.8"
Result<double> parse_budget(const std::string& text) {
  std::string_view number = text;
  if (number.ends_with("bpw")) number.remove_suffix(3);
  double out = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), out);
  if (error == std::errc() && end == number.data() + number.size() && out > 0 && out <= 32)
    return out;
  return failure(ErrorCode::kInvalidArgument,
                 "--budget is \"{}\", must be bits a weight such as 4.8bpw", text);
}

/// Measures every matrix and makes a rule for each.
Result<std::optional<MixedPlan>> mix(const WeightSource& source, std::shared_ptr<const Model> model,
                                     const std::string& text, const ConvertFlags& flags,
                                     ConvertOptions& options) {
  if (flags.budget.empty() && flags.max_kl == 0) return std::optional<MixedPlan>();
  ProgressBar bar("measuring");
  MixedOptions mixed;
  mixed.progress = [&](uint64_t d, uint64_t t) { bar.update(d, t); };
  if (flags.max_kl > 0) mixed.max_kl = flags.max_kl;
  if (!flags.budget.empty()) {
    TANDEM_TRY(mixed.bits_per_weight, parse_budget(flags.budget));
  }
  TANDEM_TRY(const auto meter, SensitivityMeter::create(std::move(model), source, text,
                                                        {.n_threads = flags.threads,
                                                         .max_tokens = flags.sensitivity_tokens,
                                                         .calibrator = options.calibrator,
                                                         .nested = options.nested}));
  TANDEM_TRY(MixedPlan plan, choose_formats(*meter, source, mixed));
  for (const MixedChoice& c : plan.choices) options.formats.rules.push_back({c.name, c.format});
  return std::optional<MixedPlan>(std::move(plan));
}

Result<void> check_importance(const ConvertFlags& flags, const WeightSource& source,
                              const ConvertOptions& options) {
  if (!flags.require_importance) return {};
  std::string missing;
  size_t n = 0;
  for (const SourceTensor& t : source.tensors()) {
    if (!options.formats.choose(t).nested) continue;
    const bool known = options.calibrator != nullptr
                           ? options.calibrator->statistics(t.name) != nullptr
                           : options.importance != nullptr && options.importance->contains(t.name);
    if (known) continue;
    missing += (n++ == 0 ? "" : ", ") + t.name;
  }
  if (n == 0) return {};
  return failure(ErrorCode::kInvalidArgument, "{} tensors have no importance: {}", n, missing);
}

struct Quantized {
  ConvertReport report;
  std::optional<MixedPlan> mixed;
};

Result<Quantized> quantize(const WeightSource& source, const ConvertFlags& flags,
                           ConvertOptions& options) {
  TANDEM_TRY(options.formats.matrices, TargetFormat::parse(flags.quant));
  for (const std::string& text : flags.rules) {
    TANDEM_TRY(auto rule, FormatRule::parse(text));
    options.formats.rules.push_back(std::move(rule));
  }
  options.nested = {.shift = flags.exponent,
                    .feedback = !flags.calibrate.empty() && !flags.no_feedback};
  options.wide_activations = flags.wide_activations;
  TANDEM_TRY(Metadata metadata, edited_metadata(source, flags));
  Statistics importance;
  if (!flags.imatrix.empty()) {
    TANDEM_TRY(importance, load_imatrix(flags.imatrix));
    options.importance = &importance;
  }
  ProgressBar bar("calibrating");
  Quantized out;
  std::unique_ptr<Calibrator> calibrator;
  if (!flags.calibrate.empty()) {
    TANDEM_TRY(const std::string text, read_text(flags.calibrate));
    TANDEM_TRY(const auto model, runnable(source, flags));
    TANDEM_TRY(calibrator,
               Calibrator::create(model, text,
                                  {.n_threads = flags.threads,
                                   .max_tokens = flags.calibrate_tokens,
                                   .progress = [&](uint64_t d, uint64_t t) { bar.update(d, t); }}));
    bar.clear();
    options.calibrator = calibrator.get();
    describe_activations(*calibrator, source, options, metadata);
    TANDEM_TRY(out.mixed, mix(source, model, text, flags, options));
    if (out.mixed) describe_choices(*out.mixed, metadata);
  }
  TANDEM_TRY(check_importance(flags, source, options));
  TANDEM_TRY(out.report, convert(source, flags.output, std::move(metadata), options));
  return out;
}

Result<Quantized> work(const WeightSource& source, const ConvertFlags& flags,
                       ConvertOptions& options) {
  Quantized out;
  if (flags.strip) {
    TANDEM_TRY(out.report, strip_low_planes(source, flags.output, options));
  } else if (flags.original.empty()) {
    return quantize(source, flags, options);
  } else {
    TANDEM_TRY(const Source original, open_source(flags.original));
    TANDEM_TRY(out.report, add_refinement(source, *original, flags.output, options));
  }
  return out;
}

Result<void> run(const ConvertFlags& flags) {
  if (!flags.original.empty() && flags.strip) {
    return failure(ErrorCode::kInvalidArgument, "--strip and --add-refinement exclude each other");
  }
  if (flags.rotate && (flags.strip || !flags.original.empty())) {
    return failure(ErrorCode::kInvalidArgument,
                   "--rotate needs the original weights, --strip and --add-refinement copy them");
  }
  TANDEM_TRY(const Source source, open_source(flags.source));
  std::error_code ignored;
  if (std::filesystem::equivalent(flags.source, flags.output, ignored)) {
    return failure(ErrorCode::kInvalidArgument, "{} is the source and the output", flags.output);
  }
  Source rotated_source;
  const TemporaryFile temporary{flags.output + ".rotated.tmp"};
  if (flags.rotate) {
    TANDEM_TRY(rotated_source, rotated(*source, flags, temporary));
  }
  ProgressBar bar("converting");
  ConvertOptions options;
  options.n_threads = flags.threads;
  options.progress = [&](uint64_t d, uint64_t t) { bar.update(d, t); };
  if (flags.sidecar) options.sidecar = flags.output + ".low";
  TANDEM_TRY(Quantized done, work(flags.rotate ? *rotated_source : *source, flags, options));
  bar.clear();
  const ConvertResult result{flags.output, options.sidecar, source->format(),
                             std::move(done.report), std::move(done.mixed)};
  return write_output(flags.json ? convert_json(result) : convert_text(result));
}

void add_quality_options(CLI::App& command, ConvertFlags& flags) {
  command.add_option(
      "--calibrate", flags.calibrate,
      "Text whose activations decide what matters; documents may be separated by lines "
      "that hold only U+001E");
  command.add_option("--calibrate-tokens", flags.calibrate_tokens, "Tokens of it to use at most")
      ->check(CLI::Range(16, 1 << 24))
      ->capture_default_str();
  command.add_flag("--no-feedback", flags.no_feedback,
                   "Use importance only, without error feedback");
  command.add_option("--imatrix", flags.imatrix, "Importance matrix of llama.cpp (GGUF)")
      ->excludes("--calibrate");
  command.add_flag("--require-importance", flags.require_importance,
                   "Fail when the importance of a nested tensor is missing");
  command.add_option("--exponent", flags.exponent, "e of nested tensors without feedback: 4 or 3")
      ->check(CLI::Range(3, 4))
      ->capture_default_str();
  command
      .add_option("--budget", flags.budget,
                  "Bits a weight, such as 4.8bpw: measures every matrix and mixes formats")
      ->needs("--calibrate");
  command
      .add_option("--max-kl", flags.max_kl,
                  "Nats: mixes the smallest formats whose KL on the text stays below")
      ->needs("--calibrate")
      ->excludes("--budget")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--sensitivity-tokens", flags.sensitivity_tokens,
                  "Tokens of the text on which matrices are measured")
      ->check(CLI::Range(16, 1 << 20))
      ->capture_default_str();
  command.add_option("--activations-16", flags.wide_activations,
                     "Store that inputs of weights whose names match want 16 bits");
}

}  // namespace

void add_convert_command(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ConvertFlags>();
  CLI::App* command = app.add_subcommand(
      "convert", "Write a model as one GGUF file that is INT4 everywhere and INT8 here");
  command
      ->add_option("SOURCE", flags->source,
                   "GGUF file, Hugging Face folder (safetensors) or MLC folder")
      ->required();
  command->add_option("-o,--output", flags->output, "GGUF file to write")->required();
  command->add_option("--quant", flags->quant, "nested, q8_0, q4_0, q4_k, q6_k, f16, ...")
      ->capture_default_str();
  command->add_option("--tensor-type", flags->rules,
                      "PATTERN=FORMAT: another format for tensors whose names match; repeatable");
  add_quality_options(*command, *flags);
  command->add_option("--context-window", flags->context_window,
                      "Positions of a session by default");
  command->add_option("--chat-template", flags->chat_template, "Jinja file to store");
  command->add_option("--kv", flags->keys, "KEY=TYPE:VALUE to store (KEY= removes); repeatable");
  command
      ->add_flag("--rotate", flags->rotate,
                 "Fold Hadamard rotations into the weights, against outlier channels; the function "
                 "stays")
      ->excludes("--imatrix");
  command->add_flag("--strip", flags->strip, "Copy a nested file without its low planes");
  command->add_option("--add-refinement", flags->original,
                      "Copy a Q4_0 file and add low planes made from these original weights");
  command->add_flag("--sidecar", flags->sidecar, "Put the low planes into OUTPUT.low");
  command->add_option("-t,--threads", flags->threads, "Threads; 0: all processors")
      ->check(CLI::Range(0, 256))
      ->capture_default_str();
  command->add_flag("--json", flags->json, "Print JSON, schema tandem.convert.v1");
  command->footer(
      "Examples:\n"
      "  tandem convert ./Qwen3-0.6B -o qwen.gguf\n"
      "  tandem convert model-f16.gguf -o nested.gguf --calibrate text.txt\n"
      "  tandem convert model-f16.gguf -o m.gguf --quant q4_k --tensor-type "
      "\"output.weight=q6_k\"\n"
      "  tandem convert model-f16.gguf -o m.gguf --calibrate text.txt --budget 4.8bpw\n"
      "  tandem convert nested.gguf -o plain-q4_0.gguf --strip\n"
      "  tandem convert q4_0.gguf -o nested.gguf --add-refinement model-f16.gguf");
  command->callback([flags, &context] { context.finish(run(*flags)); });
}

}  // namespace tandem::cli
