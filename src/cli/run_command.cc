// `tandem run`: one prompt, one reply, streamed.

#include "cli/run_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "base/clock.h"
#include "cli/generation_flags.h"
#include "cli/interrupt.h"
#include "cli/model_flags.h"
#include "cli/progress.h"
#include "cli/run_stats.h"

namespace tandem::cli {
namespace {

constexpr const char* kDefaultPrompt =
    "diagnose pump-3 vibration unit=mm/s mean=5 max=9 slope=1 limit=7";

struct RunFlags {
  ModelFlags model;
  GenerationFlags generation;
  std::vector<std::string> prompt;
  std::string prompt_file;
  bool raw = false;
  bool json = false;
};

Result<std::string> prompt_text(const RunFlags& flags) {
  if (!flags.prompt_file.empty()) return read_text(flags.prompt_file);
  if (flags.prompt.empty()) return std::string(kDefaultPrompt);
  if (flags.prompt.size() == 1 && flags.prompt[0] == "-") return read_text("-");
  return checked_utf8(fmt::format("{}", fmt::join(flags.prompt, " ")), "prompt");
}

GenerationObserver make_observer(const RunFlags& flags, ProgressBar& progress) {
  GenerationObserver observer;
  observer.on_prompt = [&](size_t done, size_t total) { progress.update(done, total); };
  observer.on_token = [&, quiet = flags.json](const SampledToken&, std::string_view text) {
    progress.clear();
    if (quiet) return;
    fmt::print("{}", text);
    std::fflush(stdout);
  };
  return observer;
}

/// The prompt as it is, without a template.
Result<GenerationResult> complete_text(const RunFlags& flags, std::shared_ptr<Engine> engine,
                                       const std::string& prompt, Sampler& sampler) {
  const Tokenizer* tokenizer = engine->model().tokenizer();
  if (tokenizer == nullptr) {
    return failure(ErrorCode::kUnsupported, "{}: the model has no tokenizer",
                   engine->model().metadata().source());
  }
  TANDEM_TRY(const auto tokens, tokenizer->encode(prompt));
  TANDEM_TRY(const auto session, Session::create(std::move(engine)));
  const InterruptScope interrupt(*session);
  ProgressBar progress("prompt");
  return generate(*session, sampler, tokens, flags.generation.generation,
                  make_observer(flags, progress));
}

/// The prompt as a user's message.
Result<GenerationResult> answer(const RunFlags& flags, std::shared_ptr<Engine> engine,
                                const std::string& prompt, Sampler& sampler) {
  TANDEM_TRY(auto conversation,
             Conversation::create(std::move(engine), flags.generation.conversation));
  const InterruptScope interrupt(conversation.session());
  ProgressBar progress("prompt");
  return conversation.ask(prompt, sampler, flags.generation.generation,
                          make_observer(flags, progress));
}

void print_json(const RunFlags& flags, const RunStats& stats) {
  const nlohmann::ordered_json document{
      {"schema", "tandem.run.v1"},
      {"text", stats.result.text},
      {"finish_reason", to_string(stats.result.finish_reason)},
      {"tokens", stats.result.tokens},
      {"stats", flags.generation.stats ? stats.to_json() : nlohmann::ordered_json()}};
  fmt::print("{}\n",
             document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

Result<void> run(RunFlags flags) {
  TANDEM_TRY(complete(flags.generation));
  TANDEM_TRY(const std::string prompt, prompt_text(flags));
  const double started = monotonic_seconds();
  TANDEM_TRY(auto engine, open_engine(flags.model));
  const double load_seconds = monotonic_seconds() - started;
  TANDEM_TRY(Sampler sampler,
             Sampler::create(flags.generation.sampling, static_cast<int32_t>(engine->vocabulary()),
                             static_cast<int32_t>(engine->context())));
  TANDEM_TRY(auto result, flags.raw ? complete_text(flags, engine, prompt, sampler)
                                    : answer(flags, engine, prompt, sampler));
  const auto stats = RunStats::collect(*engine, sampler, load_seconds, std::move(result));
  if (flags.json) {
    print_json(flags, stats);
    return {};
  }
  fmt::print("\n");
  std::fflush(stdout);
  if (stats.result.finish_reason == FinishReason::kLength) {
    fmt::print(stderr, "tandem: stopped at the limit of {} tokens\n", stats.result.tokens.size());
  }
  if (flags.generation.stats) fmt::print(stderr, "\n{}", stats.to_text());
  return {};
}

}  // namespace

void add_run_command(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<RunFlags>();
  CLI::App* command = app.add_subcommand("run", "Answer one prompt");
  command->add_option("prompt", flags->prompt, "The prompt; - reads standard input");
  command->add_option("-f,--file", flags->prompt_file, "Read the prompt from a file");
  command->add_flag("--raw", flags->raw, "Complete the text as it is, without the chat template");
  command->add_flag("--json", flags->json, "Print one JSON document (schema tandem.run.v1)");
  add_model_flags(*command, flags->model);
  add_generation_flags(*command, flags->generation);
  command->footer(
      "Examples:\n"
      "  tandem run \"What is the opposite of cold?\"\n"
      "  tandem run -m model.gguf --temp 0 -n 200 --stats \"서울은 어떤 도시인가요?\"\n"
      "  tandem run -m model.gguf --raw \"Once upon a time\"");
  command->callback([flags, &context] { context.finish(run(*flags)); });
}

}  // namespace tandem::cli
