// The command `tandem tokenize`.

#include "cli/tokenize_command.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/tokenizer_file.h"
#include "text/unicode/utf8.h"

namespace tandem::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string model;
  std::string pre;
  std::string text;
  bool no_bos = false;
  bool special = false;
  bool bytes = false;
  bool json = false;
};

/// A text in another encoding would be split into nonsense without a word; a byte order mark is no
/// part of a text.
Result<std::string> checked_text(std::string text, bool any_bytes) {
  if (any_bytes) return text;
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  for (size_t pos = 0; pos < text.size();) {
    const DecodedChar c = decode_utf8(text, pos);
    if (c.code_point == kInvalidByte) {
      return failure(ErrorCode::kInvalidArgument,
                     "the text is not UTF-8: byte {:#04x} at offset {}; convert it (for instance "
                     "with iconv -f CP949 -t UTF-8), or pass --bytes to take it as it is",
                     static_cast<uint8_t>(text[pos]), pos);
    }
    pos += c.length;
  }
  return text;
}

std::string quoted(std::string_view piece) {
  return Json(piece).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string as_json(const Tokenizer& tokenizer, const std::vector<TokenSpan>& spans) {
  Json out = {{"ids", Json::array()}, {"pieces", Json::array()}, {"offsets", Json::array()}};
  for (const TokenSpan& span : spans) {
    out["ids"].push_back(span.id);
    out["pieces"].push_back(tokenizer.piece_bytes(span.id));
    out["offsets"].push_back({span.begin, span.end});
  }
  return out.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string as_lines(const Tokenizer& tokenizer, const std::vector<TokenSpan>& spans) {
  std::string out;
  for (const TokenSpan& span : spans) {
    out += fmt::format("{:>7} {:>7} {:>7}  {}\n", span.id, span.begin, span.end,
                       quoted(tokenizer.piece_bytes(span.id)));
  }
  return out;
}

Result<void> run(Arguments arguments) {
  if (arguments.text == "-") {
    TANDEM_TRY(arguments.text, read_standard_input());
  }
  TANDEM_TRY(const std::string text, checked_text(std::move(arguments.text), arguments.bytes));
  TANDEM_TRY(const auto tokenizer, load_tokenizer(arguments.model, arguments.pre));
  const EncodeOptions options{.add_special = !arguments.no_bos, .parse_special = arguments.special};
  TANDEM_TRY(const auto spans, tokenizer->encode_with_offsets(text, options));
  return write_output(arguments.json ? as_json(*tokenizer, spans) : as_lines(*tokenizer, spans));
}

}  // namespace

void add_tokenize_command(CLI::App& app, CommandContext& context) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("tokenize", "Print a text's tokens: id, first and last byte, piece");
  command->add_option("-m,--model", arguments->model,
                      "GGUF file, tokenizer.json or a folder with one (default: the embedded demo "
                      "model)");
  command->add_option("TEXT", arguments->text, "The text; - reads standard input")->required();
  command->add_flag("--no-bos", arguments->no_bos, "Add no BOS or EOS");
  command->add_flag("--special", arguments->special,
                    "Control tokens written in the text become tokens");
  command->add_option("--pre", arguments->pre, "Use this pre-tokenizer, not the file's");
  command->add_flag("--bytes", arguments->bytes, "Take the text as it is, UTF-8 or not");
  command->add_flag("--json", arguments->json,
                    R"(Print {"ids": [...], "pieces": [...], "offsets": [[begin, end], ...]})");
  command->footer(
      "Examples:\n"
      "  tandem tokenize -m model.gguf \"안녕하세요\"\n"
      "  tandem tokenize -m tokenizer.json --no-bos --json - < text.txt");
  command->callback([arguments, &context] { context.finish(run(*arguments)); });
}

}  // namespace tandem::cli
