// From a conversation to the tokens of its prompt.

#include "engine/chat_prompt.h"

namespace tandem {
namespace {

std::string token_text(const Tokenizer& tokenizer, std::optional<TokenId> token) {
  return token ? std::string(tokenizer.piece_bytes(*token)) : std::string();
}

}  // namespace

ChatPrompter::ChatPrompter(const Tokenizer& tokenizer, ChatTemplate chat_template)
    : tokenizer_(tokenizer), template_(std::move(chat_template)), literal_(tokenizer) {}

Result<ChatPrompt> ChatPrompter::render(nlohmann::ordered_json variables) const {
  TANDEM_TRY(const std::string mark, literal_.mark(variables, template_.source()));
  variables["bos_token"] = token_text(tokenizer_, tokenizer_.bos());
  variables["eos_token"] = token_text(tokenizer_, tokenizer_.eos());
  TANDEM_TRY(std::string rendered, template_.render(variables));
  BrokenText broken = LiteralText::unmark(std::move(rendered), mark);
  TANDEM_TRY(auto tokens,
             tokenizer_.encode(broken.text, {.parse_special = true, .breaks = broken.breaks}));
  // A template that prints BOS itself and a tokenizer that adds it must not make two of them.
  const auto bos = tokenizer_.bos();
  if (bos && tokens.size() >= 2 && tokens[0] == *bos && tokens[1] == *bos) {
    tokens.erase(tokens.begin());
  }
  return ChatPrompt{std::move(broken.text), std::move(tokens)};
}

std::vector<TokenId> marker_tokens(const Tokenizer& tokenizer, const ReplyFormat& format) {
  std::vector<TokenId> out;
  for (const std::string_view marker : reply_markers(format)) {
    const auto token = tokenizer.find(marker);
    if (token && tokenizer.is_control(*token)) out.push_back(*token);
  }
  return out;
}

}  // namespace tandem
