#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/generation.h"
#include "text/chat_template/chat_template.h"

namespace tandem {

struct ConversationOptions {
  std::string system;            ///< system message; empty: none
  std::string template_source;   ///< Jinja; empty: the model's own
  nlohmann::ordered_json tools;  ///< OpenAI's form, or null
  /// Further variables for the template, for instance enable_thinking.
  nlohmann::ordered_json template_variables = nlohmann::ordered_json::object();
};

/// Messages of a chat over one session: renders them with the model's template, reuses the part of
/// the cache that still fits, and generates the reply. One thread's.
class Conversation {
 public:
  /// Takes over `session`, tokens included. Errors: kUnsupported when the model has no chat
  /// template or no tokenizer; the session is left alone then.
  static Result<Conversation> create(std::unique_ptr<Session>&& session,
                                     const ConversationOptions& options);
  /// With a session of its own.
  static Result<Conversation> create(std::shared_ptr<Engine> engine,
                                     const ConversationOptions& options);

  /// Adds a user message and generates the assistant's. A failed or cancelled call leaves the
  /// message out when nothing was generated for it.
  Result<GenerationResult> ask(const std::string& text, Sampler& sampler,
                               const GenerationOptions& options,
                               const GenerationObserver& observer = {});

  /// The prompt that `ask` would compute now for the messages so far.
  Result<std::vector<TokenId>> prompt_tokens() const;

  /// Forgets the messages; the system message stays.
  void reset();
  /// Forgets the last question and its reply. False when there is none.
  bool undo();
  void set_system(const std::string& text);

  const nlohmann::ordered_json& messages() const { return messages_; }
  Session& session() { return *session_; }

  /// Messages beside the session's cache: `path` holds the session, `path`.json the messages.
  Result<void> save(const std::string& path) const;
  Result<void> load(const std::string& path);

 private:
  Conversation(std::unique_ptr<Session> session, ChatTemplate chat_template,
               ConversationOptions options);
  Result<GenerationResult> reply(Sampler& sampler, const GenerationOptions& options,
                                 const GenerationObserver& observer);

  std::unique_ptr<Session> session_;
  ChatTemplate template_;
  ConversationOptions options_;
  nlohmann::ordered_json messages_;
};

}  // namespace tandem
