#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/literal_text.h"
#include "text/chat_template/chat_template.h"
#include "text/reply/reply_format.h"

namespace tandem {

/// A rendered conversation.
struct ChatPrompt {
  std::string text;  ///< as the template printed it
  std::vector<TokenId> tokens;
};

/// Makes prompts of conversations: renders a model's chat template and tokenizes the result.
/// Control tokens come from the template only; what messages, tools and other variables spell out
/// stays text, tokenized as ordinary text is (docs/chat_prompts.md). Immutable, thread safe.
class ChatPrompter {
 public:
  /// `tokenizer` must outlive this.
  ChatPrompter(const Tokenizer& tokenizer, ChatTemplate chat_template);

  /// `variables` is an object with messages, tools and whatever else the template reads;
  /// bos_token and eos_token are added. Errors: those of ChatTemplate::render, LiteralText::mark
  /// and Tokenizer::encode.
  Result<ChatPrompt> render(nlohmann::ordered_json variables) const;

  const ChatTemplate& chat_template() const { return template_; }

 private:
  const Tokenizer& tokenizer_;
  ChatTemplate template_;
  LiteralText literal_;
};

/// The control tokens that mark parts of a reply, which have to reach its parser as text.
std::vector<TokenId> marker_tokens(const Tokenizer& tokenizer, const ReplyFormat& format);

}  // namespace tandem
