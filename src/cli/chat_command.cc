// `tandem chat`: a conversation at the terminal.

#include "cli/chat_command.h"

#include <memory>

#include "base/clock.h"
#include "cli/chat.h"
#include "cli/generation_flags.h"
#include "cli/model_flags.h"

namespace tandem::cli {
namespace {

struct ChatFlags {
  ModelFlags model;
  GenerationFlags generation;
};

Result<void> run(ChatFlags flags) {
  TANDEM_TRY(complete(flags.generation));
  const double started = monotonic_seconds();
  TANDEM_TRY(auto engine, open_engine(flags.model));
  const double load_seconds = monotonic_seconds() - started;
  TANDEM_TRY(Sampler sampler, create_sampler(flags.generation, *engine));
  TANDEM_TRY(auto conversation,
             Conversation::create(std::move(engine), flags.generation.conversation));
  return as_failure(
      Chat(std::move(conversation), std::move(sampler), flags.generation, load_seconds).run());
}

}  // namespace

void add_chat_command(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ChatFlags>();
  CLI::App* command = app.add_subcommand("chat", "Talk with a model");
  add_model_flags(*command, flags->model);
  add_generation_flags(*command, flags->generation);
  command->footer(
      "At a terminal lines can be edited and are remembered between runs; /help lists commands.\n"
      "Examples:\n"
      "  tandem chat\n"
      "  tandem chat -m model.gguf --system \"Answer in Korean.\" --temp 0.7\n"
      "  tandem chat --tools tools.json");
  command->callback([flags, &context] { context.finish(run(*flags)); });
}

}  // namespace tandem::cli
