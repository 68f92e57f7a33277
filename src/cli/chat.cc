// A conversation at the terminal, or from a file of messages.

#include "cli/chat.h"

#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/reply_printer.h"
#include "cli/run_stats.h"

namespace tandem::cli {

const Chat::Command Chat::kCommands[] = {
    {"/help", "", "this list", &Chat::show_help},
    {"/quit", "", "end (also Ctrl-D)", &Chat::quit},
    {"/reset", "", "forget the conversation", &Chat::restart},
    {"/undo", "", "forget the last question and its answer", &Chat::undo},
    {"/retry", "", "answer the last question again", &Chat::retry},
    {"/system", "TEXT", "set the system message and forget the conversation", &Chat::set_system},
    {"/result", "TEXT", "give the result of a tool call", &Chat::answer_call},
    {"/save", "FILE", "save the conversation and its cache", &Chat::save},
    {"/load", "FILE", "go on with a saved one", &Chat::load},
    {"/stats", "", "what the last answer cost", &Chat::show_stats},
    {"/tokens", "", "how much of the context is used", &Chat::show_tokens},
};

Chat::Chat(Conversation conversation, Sampler sampler, const GenerationFlags& flags,
           double load_seconds)
    : conversation_(std::move(conversation)),
      sampler_(std::move(sampler)),
      flags_(flags),
      load_seconds_(load_seconds) {}

Result<void> Chat::run() {
  if (editor_.is_terminal()) {
    show(fmt::format("{}. /help lists the commands, Ctrl-D ends.\n",
                     engine().model().metadata().string_or("general.name", "model").value_or("?")));
  }
  while (running_ && output_) {
    const auto message = editor_.read_message("> ");
    if (!message) break;
    if (message->starts_with('/')) {
      run_command(*message);
    } else if (!message->empty()) {
      ask(*message);
    }
  }
  TANDEM_TRY(output_);
  if (failed_ && !editor_.is_terminal()) {
    return failure(ErrorCode::kUnsupported, "not every message was answered");
  }
  return {};
}

void Chat::show(std::string_view text) {
  if (output_) output_ = write_output(text);
}

void Chat::fail(std::string_view message) {
  failed_ = true;
  note("error: {}\n", message);
}

void Chat::run_command(const std::string& line) {
  const size_t space = line.find_first_of(" \t");
  const std::string name = line.substr(0, space);
  const size_t begin = line.find_first_not_of(" \t", space);
  const std::string argument = begin == std::string::npos ? "" : line.substr(begin);
  for (const Command& command : kCommands) {
    if (name != command.name) continue;
    const bool takes_text = *command.argument != '\0';
    if (takes_text && argument.empty()) {
      return fail(fmt::format("{} needs {}", name, command.argument));
    }
    if (!takes_text && !argument.empty()) {
      return fail(fmt::format("{} takes no argument, got \"{}\"", name, argument));
    }
    return (this->*command.run)(argument);
  }
  fail(fmt::format("unknown command {}; /help lists the commands", name));
}

void Chat::show_help(const std::string&) {
  for (const Command& command : kCommands) {
    show(fmt::format("{:<8} {:<5} {}\n", command.name, command.argument, command.help));
  }
  show(
      "Ctrl-C stops an answer. A line that ends with \\ goes on; \"\"\" begins and ends a text of\n"
      "several lines.\n");
}

void Chat::quit(const std::string&) { running_ = false; }

void Chat::restart(const std::string&) {
  conversation_.reset();
  sampler_.reset();
}

void Chat::undo(const std::string&) {
  if (!conversation_.undo()) fail("nothing to undo");
}

void Chat::retry(const std::string&) {
  const auto question = conversation_.last_question();
  if (!question) return fail("nothing to retry");
  conversation_.undo();
  ask(*question);
}

void Chat::set_system(const std::string& text) {
  const auto checked = checked_utf8(text, "system message");
  if (!checked) return fail(checked.error().message);
  restart("");
  conversation_.set_system(*checked);
}

void Chat::save(const std::string& path) {
  const auto outcome = conversation_.save(path);
  if (!outcome) return fail(outcome.error().message);
  show(fmt::format("saved {} messages to {}\n", conversation_.messages().size(), path));
}

void Chat::load(const std::string& path) {
  const auto outcome = conversation_.load(path);
  if (!outcome) return fail(outcome.error().message);
  sampler_.reset();
  show(fmt::format("loaded {} messages from {}\n", conversation_.messages().size(), path));
}

void Chat::show_stats(const std::string&) {
  show(last_stats_.empty() ? "no answer yet\n" : last_stats_);
}

void Chat::show_tokens(const std::string&) {
  show(fmt::format("{} of {} positions used\n", conversation_.session().n_tokens(),
                   conversation_.session().context()));
}

void Chat::ask(const std::string& text) {
  const auto checked = checked_utf8(text, "message");
  if (!checked) return fail(checked.error().message);
  exchange([&](const GenerationObserver& observer, const DeltaObserver& on_delta) {
    return conversation_.ask(*checked, sampler_, flags_.generation, observer, on_delta);
  });
}

void Chat::answer_call(const std::string& result) {
  const auto checked = checked_utf8(result, "result");
  if (!checked) return fail(checked.error().message);
  exchange([&](const GenerationObserver& observer, const DeltaObserver& on_delta) {
    return conversation_.answer_call(*checked, sampler_, flags_.generation, observer, on_delta);
  });
}

void Chat::exchange(const Exchange& run) {
  ProgressBar progress("prompt");
  ReplyPrinter printer(editor_.is_terminal());
  GenerationObserver observer;
  observer.on_prompt = [&](size_t done, size_t total) { progress.update(done, total); };
  observer.on_token = [&](const SampledToken&, std::string_view) {
    progress.clear();
    if (!printer.outcome()) conversation_.session().cancel();
  };
  const DeltaObserver on_delta = [&](const ReplyDelta& delta) { printer.print(delta); };
  Result<ConversationReply> reply = [&] {
    const InterruptScope interrupt(conversation_.session());
    return run(observer, on_delta);
  }();
  progress.clear();
  printer.finish();
  if (output_) output_ = printer.outcome();
  finish(std::move(reply));
}

void Chat::finish(Result<ConversationReply> reply) {
  if (!reply) return fail(reply.error().message);
  explain_end(*reply);
  const auto stats = RunStats::collect(engine(), sampler_, load_seconds_, *reply, reply->n_reused);
  last_stats_ = stats.to_text();
  if (flags_.stats) {
    write_note(last_stats_);
  } else {
    if (!stats.simulated.empty()) write_note(stats.simulated_line());
    write_note(stats.incident_lines());
  }
}

void Chat::explain_end(const ConversationReply& reply) {
  if (reply.n_dropped > 0) {
    note("[the oldest {} messages were dropped to make room]\n", reply.n_dropped);
  }
  if (reply.finish_reason == FinishReason::kCancelled) note("[stopped]\n");
  if (reply.finish_reason == FinishReason::kLength && !reply.context_is_full) {
    note("[stopped at the limit of {} tokens]\n", reply.tokens.size());
  }
  if (reply.context_is_full) {
    note("[the context of {} positions is full; /reset or /undo makes room, --context more]\n",
         conversation_.session().context());
  }
}

}  // namespace tandem::cli
