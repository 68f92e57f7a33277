// The command `tandem detokenize`.

#include "cli/detokenize_command.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "cli/tokenizer_file.h"

namespace tandem::cli {
namespace {

struct Arguments {
  std::string model;
  std::vector<std::string> ids;
  bool no_special = false;
};

/// Numbers separated by anything that is common in lists of them.
Result<std::vector<TokenId>> parse_ids(std::string_view text, int32_t n_tokens) {
  constexpr std::string_view kSeparators = " \t\r\n,[]";
  std::vector<TokenId> ids;
  for (size_t pos = text.find_first_not_of(kSeparators); pos != std::string_view::npos;
       pos = text.find_first_not_of(kSeparators, pos)) {
    const size_t end = std::min(text.find_first_of(kSeparators, pos), text.size());
    const std::string_view word = text.substr(pos, end - pos);
    TokenId id = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || stop != word.data() + word.size() || id < 0 || id >= n_tokens) {
      return failure(ErrorCode::kInvalidArgument, "\"{}\" is no token id; ids go from 0 to {}",
                     word, n_tokens - 1);
    }
    ids.push_back(id);
    pos = end;
  }
  return ids;
}

Result<void> run(const Arguments& arguments) {
  std::string list;
  for (const std::string& argument : arguments.ids) {
    if (argument == "-") {
      TANDEM_TRY(const std::string input, read_standard_input());
      list += input;
    } else {
      list += argument;
    }
    list += ' ';
  }
  TANDEM_TRY(const auto tokenizer, load_tokenizer(arguments.model, ""));
  TANDEM_TRY(const auto ids, parse_ids(list, tokenizer->n_tokens()));
  std::string text = tokenizer->decode(ids, {.show_control = !arguments.no_special});
  if (isatty(STDOUT_FILENO)) text += '\n';
  return write_output(text);
}

}  // namespace

void add_detokenize_command(CLI::App& app, CommandContext& context) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("detokenize", "Print the text of token ids");
  command->add_option("-m,--model", arguments->model,
                      "GGUF file, tokenizer.json or a folder with one (default: the embedded demo "
                      "model)");
  command->add_option("IDS", arguments->ids, "Token ids; - reads them from standard input")
      ->required();
  command->add_flag("--no-special", arguments->no_special, "Leave control tokens out");
  command->footer(
      "Examples:\n"
      "  tandem detokenize -m model.gguf 17 42 [108,7]\n"
      "  tandem tokenize --json hi | tandem detokenize -");
  command->callback([arguments, &context] { context.finish(run(*arguments)); });
}

}  // namespace tandem::cli
