#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/chat_prompt.h"
#include "engine/generation.h"
#include "text/reply/reply_parser.h"

namespace tandem {

struct ConversationOptions {
  std::string system = {};            ///< system message; empty: none
  std::string template_source = {};   ///< Jinja; empty: the model's own
  nlohmann::ordered_json tools = {};  ///< OpenAI's form, or null
  /// Further variables for the template, for instance enable_thinking.
  nlohmann::ordered_json template_variables = nlohmann::ordered_json::object();
};

/// A reply as text (GenerationResult) and taken apart.
struct ConversationReply : GenerationResult {
  ReplyMessage message;
  uint32_t n_reused = 0;         ///< tokens of the prompt that the cache already held
  bool context_is_full = false;  ///< what ended it, when finish_reason is kLength
  uint32_t n_dropped = 0;        ///< old messages dropped to make room (shift_context)
};

/// Gets the pieces of a reply as they are understood.
using DeltaObserver = std::function<void(const ReplyDelta& delta)>;

/// Messages of a chat over one session: renders them with the model's template, reuses the part of
/// the cache that still fits, generates the reply and takes it apart. One thread's.
class Conversation {
 public:
  /// Takes over `session`, tokens included. Errors: kUnsupported when the model has no chat
  /// template or no tokenizer; kInvalidArgument for tools in another form. The session is left
  /// alone then.
  static Result<Conversation> create(std::unique_ptr<Session>&& session,
                                     const ConversationOptions& options);
  /// With a session of its own.
  static Result<Conversation> create(std::shared_ptr<Engine> engine,
                                     const ConversationOptions& options);

  /// Adds a user message and generates the assistant's. A failed or cancelled call leaves the
  /// message out when nothing was generated for it. Errors: kContextFull naming both numbers when
  /// the prompt leaves no room for a reply (nothing was computed); with
  /// GenerationOptions::shift_context the oldest turns are dropped instead.
  Result<ConversationReply> ask(const std::string& text, Sampler& sampler,
                                const GenerationOptions& options,
                                const GenerationObserver& observer = {},
                                const DeltaObserver& on_delta = {});

  /// As ask, with the result of the first tool call of the last reply that has none yet. Errors:
  /// kInvalidArgument when no call waits for a result.
  Result<ConversationReply> answer_call(const std::string& result, Sampler& sampler,
                                        const GenerationOptions& options,
                                        const GenerationObserver& observer = {},
                                        const DeltaObserver& on_delta = {});

  /// The prompt that a reply to the messages so far would be generated from.
  Result<ChatPrompt> prompt() const;

  /// Forgets the messages; the system message stays.
  void reset();
  /// Forgets the last question and its reply. False when there is none.
  bool undo();
  void set_system(const std::string& text);
  /// The text of the last user message.
  std::optional<std::string> last_question() const;

  /// In the form that chat templates read: role, content, reasoning_content, tool_calls.
  const nlohmann::ordered_json& messages() const { return messages_; }
  Session& session() { return *session_; }

  /// Messages beside the session's cache: `path` holds the session, `path`.json the messages.
  Result<void> save(const std::string& path) const;
  Result<void> load(const std::string& path);

 private:
  Conversation(std::unique_ptr<Session> session, ChatPrompter prompter, ReplyFormat format,
               ToolTypes tool_types, ConversationOptions options);
  Result<ConversationReply> exchange(nlohmann::ordered_json message, Sampler& sampler,
                                     const GenerationOptions& options,
                                     const GenerationObserver& observer,
                                     const DeltaObserver& on_delta);
  Result<ConversationReply> reply(Sampler& sampler, const GenerationOptions& options,
                                  const GenerationObserver& observer,
                                  const DeltaObserver& on_delta);
  Result<ChatPrompt> fitting_prompt(bool may_drop, uint32_t& n_dropped);
  uint32_t drop_oldest_turn();
  void add_reply(const ReplyMessage& message);
  nlohmann::ordered_json next_open_call() const;

  std::unique_ptr<Session> session_;
  ChatPrompter prompter_;
  ReplyFormat format_;
  ToolTypes tool_types_;
  ConversationOptions options_;
  nlohmann::ordered_json messages_;
  uint32_t n_calls_ = 0;  ///< for ids of calls that came without one
};

}  // namespace tandem
