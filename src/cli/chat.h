#pragma once

#include <functional>
#include <string>

#include "cli/generation_flags.h"
#include "cli/line_editor.h"

namespace tandem::cli {

/// The loop of a chat: reads messages and commands, prints answers. One thread's.
class Chat {
 public:
  /// `flags` must outlive the chat.
  Chat(Conversation conversation, Sampler sampler, const GenerationFlags& flags,
       double load_seconds);

  /// Until the end of input or /quit. Errors: those of writing to standard output; of input that is
  /// no terminal also that a message or command failed, which was shown when it happened.
  Result<void> run();

 private:
  struct Command {
    const char* name;
    const char* argument;
    const char* help;
    void (Chat::*run)(const std::string& argument);
  };
  static const Command kCommands[];

  Engine& engine() { return conversation_.session().engine(); }
  void run_command(const std::string& line);
  void show_help(const std::string&);
  void quit(const std::string&);
  void restart(const std::string&);
  void undo(const std::string&);
  void retry(const std::string&);
  void set_system(const std::string& text);
  void answer_call(const std::string& result);
  void save(const std::string& path);
  void load(const std::string& path);
  void show_stats(const std::string&);
  void show_tokens(const std::string&);

  using Exchange =
      std::function<Result<ConversationReply>(const GenerationObserver&, const DeltaObserver&)>;
  void ask(const std::string& text);
  void exchange(const Exchange& run);
  void finish(Result<ConversationReply> reply);
  void explain_end(const ConversationReply& reply);
  void show(std::string_view text);
  void fail(std::string_view message);

  Conversation conversation_;
  Sampler sampler_;
  const GenerationFlags& flags_;
  double load_seconds_;
  LineEditor editor_;
  std::string last_stats_;
  bool running_ = true;
  bool failed_ = false;
  Result<void> output_;  ///< the first error of writing to standard output
};

}  // namespace tandem::cli
