// `tandem chat`: a conversation at the terminal.

#include "cli/chat_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "base/clock.h"
#include "cli/generation_flags.h"
#include "cli/interrupt.h"
#include "cli/line_editor.h"
#include "cli/model_flags.h"
#include "cli/progress.h"
#include "cli/run_stats.h"

namespace tandem::cli {
namespace {

constexpr const char* kHelp =
    "/help           this list\n"
    "/quit           end (also Ctrl-D)\n"
    "/reset          forget the conversation\n"
    "/undo           forget the last question and its answer\n"
    "/retry          answer the last question again\n"
    "/system TEXT    set the system message and forget the conversation\n"
    "/save FILE      save the conversation and its cache\n"
    "/load FILE      go on with a saved one\n"
    "/stats          what the last answer cost\n"
    "/tokens         how much of the context is used\n"
    "Ctrl-C stops an answer. A line that ends with \\ goes on; \"\"\" begins and ends a text of\n"
    "several lines.\n";

struct ChatFlags {
  ModelFlags model;
  GenerationFlags generation;
};

/// The loop of a chat: reads messages and commands, prints answers.
class Chat {
 public:
  Chat(Conversation conversation, Sampler sampler, const GenerationFlags& flags,
       double load_seconds)
      : conversation_(std::move(conversation)),
        sampler_(std::move(sampler)),
        flags_(flags),
        load_seconds_(load_seconds) {}

  void run() {
    if (editor_.is_terminal()) {
      fmt::print("{}. /help lists the commands, Ctrl-D ends.\n",
                 engine().model().metadata().string_or("general.name", "model").value_or("model"));
    }
    while (const auto message = editor_.read_message("> ")) {
      if (message->empty()) continue;
      const bool is_command = message->starts_with('/');
      if (is_command && !run_command(*message)) return;
      if (!is_command) ask(*message);
    }
    if (editor_.is_terminal()) fmt::print("\n");
  }

 private:
  Engine& engine() { return conversation_.session().engine(); }

  /// False when the chat is to end.
  bool run_command(const std::string& line) {
    const size_t space = line.find(' ');
    const std::string name = line.substr(0, space);
    const std::string argument = space == std::string::npos ? "" : line.substr(space + 1);
    if (name == "/quit" || name == "/exit") return false;
    if (name == "/help")
      fmt::print("{}", kHelp);
    else if (name == "/reset")
      restart();
    else if (name == "/undo")
      undo();
    else if (name == "/retry")
      retry();
    else if (name == "/system")
      set_system(argument);
    else if (name == "/save")
      report(conversation_.save(argument), "saved");
    else if (name == "/load")
      report(conversation_.load(argument), "loaded");
    else if (name == "/stats")
      fmt::print("{}", last_stats_.empty() ? "no answer yet\n" : last_stats_);
    else if (name == "/tokens")
      print_tokens();
    else
      fmt::print(stderr, "unknown command {}; /help lists the commands\n", name);
    return true;
  }

  void restart() {
    conversation_.reset();
    sampler_.reset();
  }

  void undo() {
    if (!conversation_.undo()) fmt::print(stderr, "nothing to undo\n");
  }

  void set_system(const std::string& text) {
    restart();
    conversation_.set_system(text);
  }

  void print_tokens() {
    fmt::print("{} of {} positions used\n", conversation_.session().n_tokens(),
               conversation_.session().context());
  }

  void retry() {
    const auto& messages = conversation_.messages();
    for (size_t i = messages.size(); i-- > 0;) {
      if (messages[i]["role"] != "user") continue;
      const std::string question = messages[i]["content"];
      conversation_.undo();
      return ask(question);
    }
    fmt::print(stderr, "nothing to retry\n");
  }

  static void report(const Result<void>& outcome, const char* done) {
    if (outcome) {
      fmt::print("{}\n", done);
    } else {
      fmt::print(stderr, "error: {}\n", outcome.error().message);
    }
  }

  void ask(const std::string& text) {
    const auto checked = checked_utf8(text, "message");
    if (!checked) return fmt::print(stderr, "error: {}\n", checked.error().message);
    ProgressBar progress("prompt");
    GenerationObserver observer;
    observer.on_prompt = [&](size_t done, size_t total) { progress.update(done, total); };
    observer.on_token = [&](const SampledToken&, std::string_view piece) {
      progress.clear();
      fmt::print("{}", piece);
      std::fflush(stdout);
    };
    Result<GenerationResult> result = [&] {
      const InterruptScope interrupt(conversation_.session());
      return conversation_.ask(*checked, sampler_, flags_.generation, observer);
    }();
    progress.clear();
    finish(std::move(result));
  }

  void finish(Result<GenerationResult> result) {
    fmt::print("\n");
    std::fflush(stdout);
    if (!result) return fmt::print(stderr, "error: {}\n", result.error().message);
    if (result->finish_reason == FinishReason::kCancelled) fmt::print(stderr, "[stopped]\n");
    if (result->finish_reason == FinishReason::kLength) fmt::print(stderr, "[limit reached]\n");
    last_stats_ =
        RunStats::collect(engine(), sampler_, load_seconds_, std::move(*result)).to_text();
    if (flags_.stats) fmt::print(stderr, "{}", last_stats_);
  }

  Conversation conversation_;
  Sampler sampler_;
  const GenerationFlags& flags_;
  double load_seconds_;
  LineEditor editor_;
  std::string last_stats_;
};

Result<void> run(ChatFlags flags) {
  TANDEM_TRY(complete(flags.generation));
  const double started = monotonic_seconds();
  TANDEM_TRY(auto engine, open_engine(flags.model));
  const double load_seconds = monotonic_seconds() - started;
  TANDEM_TRY(Sampler sampler,
             Sampler::create(flags.generation.sampling, static_cast<int32_t>(engine->vocabulary()),
                             static_cast<int32_t>(engine->context())));
  TANDEM_TRY(auto conversation,
             Conversation::create(std::move(engine), flags.generation.conversation));
  Chat(std::move(conversation), std::move(sampler), flags.generation, load_seconds).run();
  return {};
}

}  // namespace

void add_chat_command(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ChatFlags>();
  CLI::App* command = app.add_subcommand("chat", "Talk with a model");
  add_model_flags(*command, flags->model);
  add_generation_flags(*command, flags->generation);
  command->footer(
      "Examples:\n"
      "  tandem chat\n"
      "  tandem chat -m model.gguf --system \"Answer in Korean.\" --temp 0.7");
  command->callback([flags, &context] { context.finish(run(*flags)); });
}

}  // namespace tandem::cli
