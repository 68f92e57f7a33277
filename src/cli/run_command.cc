// `tandem run`: one prompt, one reply, streamed.

#include "cli/run_command.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/clock.h"
#include "cli/generation_flags.h"
#include "cli/interrupt.h"
#include "cli/model_flags.h"
#include "cli/progress.h"
#include "cli/run_json.h"

namespace tandem::cli {
namespace {

constexpr const char* kDefaultPrompt =
    "diagnose pump-3 vibration unit=mm/s mean=5 max=9 slope=1 limit=7";

struct RunFlags {
  ModelFlags model;
  GenerationFlags generation;
  std::vector<std::string> prompt;
  std::string prompt_file;
  std::string session_file;
  int logprobs = -1;  ///< alternatives for each token; -1: no log probabilities
  bool raw = false;
  bool json = false;
};

Result<std::string> prompt_text(const RunFlags& flags) {
  if (!flags.prompt_file.empty()) return read_text(flags.prompt_file);
  if (flags.prompt.empty()) return std::string(kDefaultPrompt);
  if (flags.prompt.size() == 1 && flags.prompt[0] == "-") return read_text("-");
  return checked_utf8(fmt::format("{}", fmt::join(flags.prompt, " ")), "prompt");
}

/// Follows a generation: shows its text and notes log probabilities. Cancels it when the text
/// cannot be written any more.
class Watch {
 public:
  Watch(const RunFlags& flags, Session& session)
      : flags_(flags), session_(session), interrupt_(session), progress_("prompt") {}

  GenerationObserver observer() {
    GenerationObserver out;
    out.on_prompt = [this](size_t done, size_t total) { progress_.update(done, total); };
    out.on_token = [this](const SampledToken& token, std::string_view text) {
      progress_.clear();
      if (token.logprob) {
        logprobs_.push_back({token.id, *token.logprob, {token.top.begin(), token.top.end()}});
      }
      show(text);
    };
    out.on_held_text = [this](std::string_view text) { show(text); };
    return out;
  }

  Result<void> finish() {
    progress_.clear();
    return outcome_;
  }

  std::vector<LoggedToken> take_logprobs() { return std::move(logprobs_); }

 private:
  void show(std::string_view text) {
    if (flags_.json || !outcome_) return;
    outcome_ = write_output(text);
    if (!outcome_) session_.cancel();
  }

  const RunFlags& flags_;
  Session& session_;
  InterruptScope interrupt_;
  ProgressBar progress_;
  std::vector<LoggedToken> logprobs_;
  Result<void> outcome_;
};

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// The last token of a reply that was cut off is not in the cache yet; a later run needs it there.
Result<void> append_last_token(Session& session, const GenerationResult& result,
                               const Tokenizer& tokenizer) {
  const bool is_cut = result.finish_reason == FinishReason::kLength && !result.tokens.empty();
  const bool has_room = session.n_tokens() < session.context();
  if (!is_cut || !has_room || tokenizer.is_end_of_generation(result.tokens.back())) return {};
  return session.append({&result.tokens.back(), 1});
}

/// The prompt as it is, without a template.
Result<RunReport> complete_text(const RunFlags& flags, std::shared_ptr<Engine> engine,
                                const std::string& prompt, Sampler& sampler) {
  const Tokenizer* tokenizer = engine->model().tokenizer();
  if (tokenizer == nullptr) {
    return failure(ErrorCode::kUnsupported, "{}: the model has no tokenizer",
                   engine->model().metadata().source());
  }
  TANDEM_TRY(const auto session, Session::create(std::move(engine)));
  const bool goes_on = !flags.session_file.empty() && is_there(flags.session_file);
  if (goes_on) {
    TANDEM_TRY(session->load(flags.session_file));
  }
  TANDEM_TRY(const auto tokens, tokenizer->encode(prompt, {.add_special = !goes_on}));
  RunReport report;
  report.n_reused = session->n_tokens();
  Watch watch(flags, *session);
  TANDEM_TRY(report.result,
             generate(*session, sampler, tokens, flags.generation.generation, watch.observer()));
  TANDEM_TRY(watch.finish());
  report.logprobs = watch.take_logprobs();
  if (flags.session_file.empty()) return report;
  TANDEM_TRY(append_last_token(*session, report.result, *tokenizer));
  TANDEM_TRY(session->save(flags.session_file));
  return report;
}

/// The prompt as a user's message.
Result<RunReport> answer(const RunFlags& flags, std::shared_ptr<Engine> engine,
                         const std::string& prompt, Sampler& sampler) {
  const std::string& system = flags.generation.conversation.system;
  TANDEM_TRY(auto conversation,
             Conversation::create(std::move(engine), flags.generation.conversation));
  if (!flags.session_file.empty() && is_there(flags.session_file)) {
    TANDEM_TRY(conversation.load(flags.session_file));
    if (!system.empty()) conversation.set_system(system);
  }
  Watch watch(flags, conversation.session());
  TANDEM_TRY(auto reply,
             conversation.ask(prompt, sampler, flags.generation.generation, watch.observer()));
  TANDEM_TRY(watch.finish());
  if (!flags.session_file.empty()) {
    TANDEM_TRY(conversation.save(flags.session_file));
  }
  RunReport report;
  report.message = std::move(reply.message);
  report.logprobs = watch.take_logprobs();
  report.n_reused = reply.n_reused;
  report.result = std::move(reply);
  return report;
}

/// Everything but the reply's text, which was shown while it came.
Result<void> show_end(const RunFlags& flags, const RunReport& report, const RunStats& stats,
                      const Tokenizer& tokenizer) {
  const GenerationResult& result = report.result;
  if (flags.json) {
    TANDEM_TRY(
        write_output(run_document(report, flags.generation.stats ? &stats : nullptr, tokenizer)));
  } else {
    TANDEM_TRY(write_output("\n"));
    if (flags.generation.stats) {
      note("\n{}", stats.to_text());
    } else {
      if (!stats.simulated.empty()) note("{}", stats.simulated_line());
      note("{}", stats.incident_lines());
    }
  }
  if (result.finish_reason == FinishReason::kCancelled) {
    return failure(ErrorCode::kCancelled, "stopped by Ctrl-C after {} tokens",
                   result.tokens.size());
  }
  if (!flags.json && result.finish_reason == FinishReason::kLength) {
    const int32_t limit = flags.generation.generation.max_tokens;
    const bool by_limit = limit >= 0 && result.tokens.size() >= static_cast<size_t>(limit);
    note("tandem: stopped after {} tokens: {}\n", result.tokens.size(),
         by_limit ? "the limit of --max-tokens" : "the context is full");
  }
  return {};
}

Result<void> check(const RunFlags& flags) {
  if (!flags.prompt.empty() && !flags.prompt_file.empty()) {
    return failure(ErrorCode::kInvalidArgument, "the prompt is given twice: \"{}\" and --file {}",
                   flags.prompt[0], flags.prompt_file);
  }
  if (flags.logprobs >= 0 && !flags.json) {
    return failure(ErrorCode::kInvalidArgument, "--logprobs {} needs --json", flags.logprobs);
  }
  return {};
}

Result<void> run(RunFlags flags) {
  TANDEM_TRY(check(flags));
  flags.generation.sampling.logprobs = flags.logprobs >= 0;
  flags.generation.sampling.top_logprobs = std::max(flags.logprobs, 0);
  TANDEM_TRY(complete(flags.generation));
  TANDEM_TRY(const std::string prompt, prompt_text(flags));
  const double started = monotonic_seconds();
  TANDEM_TRY(const auto engine, open_engine(flags.model));
  const double load_seconds = monotonic_seconds() - started;
  TANDEM_TRY(Sampler sampler, create_sampler(flags.generation, *engine));
  TANDEM_TRY(const RunReport report,
             as_failure(flags.raw ? complete_text(flags, engine, prompt, sampler)
                                  : answer(flags, engine, prompt, sampler)));
  const auto stats =
      RunStats::collect(*engine, sampler, load_seconds, report.result, report.n_reused);
  return show_end(flags, report, stats, *engine->model().tokenizer());
}

}  // namespace

void add_run_command(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<RunFlags>();
  CLI::App* command = app.add_subcommand("run", "Answer one prompt");
  command->add_option("prompt", flags->prompt, "The prompt; - reads standard input");
  command->add_option("-f,--file", flags->prompt_file, "Read the prompt from a file");
  command->add_option(
      "--session", flags->session_file,
      "Go on with the conversation in this file if there is one, and save it there");
  command->add_flag("--raw", flags->raw, "Complete the text as it is, without the chat template");
  command->add_flag("--json", flags->json, "Print one JSON document (schema tandem.run.v1)");
  command
      ->add_option("--logprobs", flags->logprobs,
                   "With --json: log probability of each token and of the N likeliest ones")
      ->check(CLI::Range(0, 1000));
  add_model_flags(*command, flags->model);
  add_generation_flags(*command, flags->generation);
  command->footer(
      "Examples:\n"
      "  tandem run \"What is the opposite of cold?\"\n"
      "  tandem run -m model.gguf --temp 0 -n 200 --stats \"서울은 어떤 도시인가요?\"\n"
      "  tandem run --session talk.tandem \"너는 누구야?\"\n"
      "  tandem run -m model.gguf --raw --json --logprobs 3 \"Once upon a time\"\n"
      "  cat question.txt | tandem run -");
  command->callback([flags, &context] { context.finish(run(*flags)); });
}

}  // namespace tandem::cli
