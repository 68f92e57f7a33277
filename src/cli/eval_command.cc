// `tandem eval`.

#include "cli/eval_command.h"

#include <memory>

#include "cli/eval_report.h"
#include "cli/progress.h"
#include "evaluation/evaluation_json.h"

namespace tandem::cli {
namespace {

constexpr uint32_t kLlamaWindow = 512;  // llama-perplexity's default context

struct EvalFlags {
  ModelFlags model;
  EvaluationRequest request;
  bool chunked = false;
  bool llama_cpp = false;
  uint32_t window = 0;  ///< 0: the mode's default
  uint32_t stride = 0;  ///< 0: half a window
  std::string reference;
  std::vector<std::string> tasks;
  size_t limit = 0;
  bool json = false;
};

Result<void> bad(std::string_view message) {
  return failure(ErrorCode::kInvalidArgument, "{}", message);
}

Result<void> complete(EvalFlags& flags) {
  EvaluationRequest& request = flags.request;
  if (request.text.empty() && flags.tasks.empty())
    return bad("nothing to do: give --text or --tasks");
  if (request.text.empty() &&
      (!flags.reference.empty() || !request.logits.empty() || !request.save_logits.empty())) {
    return bad("--reference, --logits and --save-logits need --text");
  }
  if (!flags.reference.empty() && !request.logits.empty()) {
    return bad("--reference and --logits exclude each other");
  }
  if (flags.chunked && flags.llama_cpp) return bad("--chunked and --llama-cpp exclude each other");
  if (flags.stride != 0 && (flags.chunked || flags.llama_cpp)) {
    return bad("--stride belongs to sliding windows");
  }
  if (flags.tasks.empty() && (!request.against.empty() || !request.save_items.empty())) {
    return bad("--against and --save-items need --tasks");
  }
  for (const std::string& path : flags.tasks) request.tasks.push_back({path, flags.limit});
  WindowOptions& windows = request.windows;
  if (flags.chunked) windows.mode = WindowMode::kChunked;
  if (flags.llama_cpp)
    windows = {
        .mode = WindowMode::kLlamaCpp, .window = kLlamaWindow, .max_windows = windows.max_windows};
  request.text_options.drop_last_newline = flags.llama_cpp;
  if (flags.window != 0) windows.window = flags.window;
  windows.stride = flags.stride != 0 ? flags.stride : std::max(windows.window / 2, 1u);
  return {};
}

Result<void> run(EvalFlags flags) {
  TANDEM_TRY(complete(flags));
  TANDEM_TRY(const auto engine, open_evaluation_engine(flags.model, flags.request));
  std::shared_ptr<Engine> reference;
  if (!flags.reference.empty()) {
    // What lowers precision (a smaller cache, fewer weight planes) is not the reference's: it may
    // be the same file, run as well as it can be.
    const ModelFlags other{.model = flags.reference,
                           .context = flags.model.context,
                           .threads = flags.model.threads,
                           .isa = flags.model.isa,
                           .pre = flags.model.pre,
                           .chunk = flags.model.chunk};
    TANDEM_TRY(reference, open_evaluation_engine(other, flags.request));
  }
  TANDEM_TRY(const EvaluationReport report,
             evaluate(engine, reference, flags.request, evaluation_progress()));
  TANDEM_TRY(write_output(
      flags.json ? evaluation_document(report).dump(
                       2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
                       "\n"
                 : evaluation_text(report)));
  if (report.failure) return tl::unexpected(*report.failure);
  return {};
}

void add_text_flags(CLI::App& command, EvalFlags& flags) {
  EvaluationRequest& request = flags.request;
  command.add_option("--text", request.text, "Measure perplexity on this text file");
  command.add_option("--window", flags.window,
                     "Tokens a model sees at once (default: 1024; 512 with --llama-cpp)");
  command.add_option("--stride", flags.stride,
                     "Tokens from one window to the next (default: half a window)");
  command.add_flag("--chunked", flags.chunked, "Windows side by side instead of sliding ones");
  command.add_flag("--llama-cpp", flags.llama_cpp,
                   "The definition of llama.cpp's llama-perplexity: figures can be compared");
  command.add_option("--max-windows", request.windows.max_windows, "Measure the first N only");
  command.add_flag("--documents", request.text_options.documents,
                   "Lines holding only U+001E separate documents; an end token closes each");
  command.add_flag("--parse-special", request.text_options.parse_special,
                   "Control tokens written in the text become tokens");
  command.add_option("--reference", flags.reference,
                     "Compare with this model: KL divergence, top token, perplexity ratio");
  command.add_option("--logits", request.logits, "Compare with the logits stored in this file");
  command.add_option("--save-logits", request.save_logits, "Store this model's logits here");
  command.add_option("--seed", request.bootstrap.seed, "Of the bootstrap's draws")
      ->capture_default_str();
}

void add_task_flags(CLI::App& command, EvalFlags& flags) {
  EvaluationRequest& request = flags.request;
  command.add_option("--tasks", flags.tasks, "Answer the questions of these JSONL files");
  command.add_option("--limit", flags.limit, "Only the first N questions of each file");
  command.add_option("--max-tokens", request.task_options.max_tokens, "Of an answer")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command.add_flag("--choice-per-byte", request.task_options.choice_per_byte,
                   "Compare choices by likelihood per byte");
  command.add_option("--save-items", request.save_items, "Store what was right and wrong here");
  command.add_option("--against", request.against,
                     "Compare question by question with results stored by --save-items");
}

}  // namespace

Result<std::shared_ptr<Engine>> open_evaluation_engine(const ModelFlags& flags,
                                                       const EvaluationRequest& request) {
  TANDEM_TRY(EngineOptions options, engine_options(flags));
  TANDEM_TRY(auto model, open_model(flags));
  options.check_finite = true;
  options.max_outputs = wanted_outputs(*model);
  // Models that choose their rope frequencies by the context are measured at the window's.
  if (options.context == 0 && request.tasks.empty()) options.context = request.windows.window;
  if (options.context != 0 && !request.text.empty() && options.context < request.windows.window) {
    return failure(ErrorCode::kInvalidArgument, "--context {} is less than a window of {}",
                   options.context, request.windows.window);
  }
  return Engine::create(std::move(model), options);
}

EvaluationProgress evaluation_progress() {
  auto bar = std::make_shared<std::unique_ptr<ProgressBar>>();
  auto shown = std::make_shared<std::string>();
  return [bar, shown](const std::string& what, uint64_t done, uint64_t total) {
    if (*bar == nullptr || *shown != what) {
      *bar = std::make_unique<ProgressBar>(what);
      *shown = what;
    }
    (*bar)->update(done, total);
    if (done == total) bar->reset();
  };
}

void add_eval_command(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<EvalFlags>();
  CLI::App* command =
      app.add_subcommand("eval", "Measure perplexity, divergence and task accuracy");
  add_text_flags(*command, *flags);
  add_task_flags(*command, *flags);
  command->add_flag("--json", flags->json, "Print one JSON document (schema tandem.eval.v1)");
  add_model_flags(*command, flags->model);
  command->footer(
      "Examples:\n"
      "  tandem eval -m model.gguf --text wiki.txt\n"
      "  tandem eval -m model.gguf --text wiki.txt --llama-cpp\n"
      "  tandem eval -m f16.gguf --text wiki.txt --save-logits wiki.logits\n"
      "  tandem eval -m q4.gguf --text wiki.txt --logits wiki.logits --json\n"
      "  tandem eval -m q4.gguf --text wiki.txt --reference f16.gguf\n"
      "  tandem eval -m f16.gguf --tasks tools.jsonl facts.jsonl --save-items f16.items\n"
      "  tandem eval -m q4.gguf --tasks tools.jsonl facts.jsonl --against f16.items");
  command->callback([flags, &context] { context.finish(run(*flags)); });
}

}  // namespace tandem::cli
