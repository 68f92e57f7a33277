// `tandem template`: prints what a model's chat template makes of a conversation, and nothing else.

#include "cli/template_command.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/generation_flags.h"
#include "sources/open_weight_source.h"
#include "text/chat_template/chat_template.h"

namespace tandem::cli {
namespace {

struct TemplateFlags {
  std::string model;
  std::string file;
  std::string conversation;
};

Result<std::string> template_source(const TemplateFlags& flags) {
  if (!flags.file.empty()) return read_text(flags.file);
  TANDEM_TRY(const ModelFile model, open_model_file(flags.model));
  return model.metadata.string("tokenizer.chat_template");
}

Result<nlohmann::ordered_json> read_json(const std::string& path) {
  TANDEM_TRY(const std::string text, read_text(path));
  try {
    return nlohmann::ordered_json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    return failure(ErrorCode::kCorruptFile, "{}: {}", path, error.what());
  }
}

Result<void> render(const TemplateFlags& flags) {
  TANDEM_TRY(std::string source, template_source(flags));
  TANDEM_TRY(const auto conversation, read_json(flags.conversation));
  const std::string& name = flags.file.empty() ? flags.model : flags.file;
  const auto chat_template = ChatTemplate::parse(std::move(source));
  if (!chat_template) return tl::unexpected<Error>(chat_template.error().within(name));
  // A refused conversation is a failure like any other, not a mistake in the command line.
  TANDEM_TRY(const std::string text, as_failure(chat_template->render(conversation)));
  return write_output(text);
}

}  // namespace

void add_template_command(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<TemplateFlags>();
  CLI::App* command =
      app.add_subcommand("template", "Print a conversation as a chat template renders it");
  auto* source = command->add_option_group("template", "Where the template comes from");
  source->add_option("-m,--model", flags->model, "GGUF file or model folder with a chat template");
  source->add_option("--file", flags->file, "File with a Jinja chat template");
  source->require_option(1);
  command
      ->add_option("--conversation", flags->conversation,
                   "JSON object: messages, tools, add_generation_prompt, bos_token, eos_token and "
                   "any other variable; - reads standard input")
      ->required();
  command->footer(
      "strftime_now in the conversation is what strftime_now(...) returns; without it that is the "
      "local time.\n"
      "Example:\n"
      "  tandem template -m model.gguf --conversation chat.json");
  command->callback([flags, &context] { context.finish(render(*flags)); });
}

}  // namespace tandem::cli
