#include "engine/conversation.h"

#include <algorithm>

#include "base/atomic_file.h"
#include "base/mapped_file.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

/// How many leading tokens two sequences share.
size_t common_prefix(std::span<const TokenId> a, std::span<const TokenId> b) {
  const size_t n = std::min(a.size(), b.size());
  return std::mismatch(a.begin(), a.begin() + n, b.begin()).first - a.begin();
}

std::string token_text(const Tokenizer& tokenizer, std::optional<TokenId> token) {
  return token ? std::string(tokenizer.piece_bytes(*token)) : std::string();
}

}  // namespace

Conversation::Conversation(std::unique_ptr<Session> session, ChatTemplate chat_template,
                           ConversationOptions options)
    : session_(std::move(session)),
      template_(std::move(chat_template)),
      options_(std::move(options)) {
  reset();
}

Result<Conversation> Conversation::create(std::unique_ptr<Session>&& session,
                                          const ConversationOptions& options) {
  const Model& model = session->engine().model();
  const std::string& source =
      options.template_source.empty() ? model.chat_template() : options.template_source;
  if (model.tokenizer() == nullptr || source.empty()) {
    return failure(ErrorCode::kUnsupported, "{}: the model has no {}, a conversation needs one",
                   model.metadata().source(),
                   model.tokenizer() == nullptr ? "tokenizer" : "chat template");
  }
  auto chat_template = ChatTemplate::parse(source);
  if (!chat_template) {
    return tl::unexpected(
        chat_template.error().within(model.metadata().source() + ": chat template"));
  }
  return Conversation(std::move(session), std::move(*chat_template), options);
}

Result<Conversation> Conversation::create(std::shared_ptr<Engine> engine,
                                          const ConversationOptions& options) {
  TANDEM_TRY(auto session, Session::create(std::move(engine)));
  return create(std::move(session), options);
}

void Conversation::reset() {
  messages_ = Json::array();
  set_system(options_.system);
}

void Conversation::set_system(const std::string& text) {
  options_.system = text;
  const bool has_system = !messages_.empty() && messages_[0]["role"] == "system";
  if (has_system) messages_.erase(messages_.begin());
  if (!text.empty())
    messages_.insert(messages_.begin(), Json{{"role", "system"}, {"content", text}});
}

bool Conversation::undo() {
  for (size_t i = messages_.size(); i-- > 0;) {
    const bool is_question = messages_[i]["role"] == "user";
    messages_.erase(i);
    if (is_question) return true;
  }
  reset();
  return false;
}

Result<std::vector<TokenId>> Conversation::prompt_tokens() const {
  const Tokenizer& tokenizer = *session_->engine().model().tokenizer();
  Json variables = options_.template_variables;
  variables["messages"] = messages_;
  variables["add_generation_prompt"] = true;
  variables["bos_token"] = token_text(tokenizer, tokenizer.bos());
  variables["eos_token"] = token_text(tokenizer, tokenizer.eos());
  if (!options_.tools.is_null()) variables["tools"] = options_.tools;
  TANDEM_TRY(const std::string text, template_.render(variables));
  TANDEM_TRY(auto tokens, tokenizer.encode(text, {.add_special = true, .parse_special = true}));
  // A template that prints BOS itself and a tokenizer that adds it must not make two of them.
  const auto bos = tokenizer.bos();
  if (bos && tokens.size() >= 2 && tokens[0] == *bos && tokens[1] == *bos) {
    tokens.erase(tokens.begin());
  }
  return tokens;
}

Result<GenerationResult> Conversation::reply(Sampler& sampler, const GenerationOptions& options,
                                             const GenerationObserver& observer) {
  TANDEM_TRY(const std::vector<TokenId> prompt, prompt_tokens());
  // At least one token is computed anew, for its logits.
  const size_t reusable = std::min(common_prefix(session_->tokens(), prompt), prompt.size() - 1);
  session_->truncate(static_cast<uint32_t>(reusable));
  return generate(*session_, sampler, std::span(prompt).subspan(reusable), options, observer);
}

Result<GenerationResult> Conversation::ask(const std::string& text, Sampler& sampler,
                                           const GenerationOptions& options,
                                           const GenerationObserver& observer) {
  messages_.push_back({{"role", "user"}, {"content", text}});
  auto result = reply(sampler, options, observer);
  if (!result || result->tokens.empty()) {
    messages_.erase(messages_.size() - 1);
    return result;
  }
  messages_.push_back({{"role", "assistant"}, {"content", result->text}});
  return result;
}

Result<void> Conversation::save(const std::string& path) const {
  TANDEM_TRY(session_->save(path));
  const Json document{{"schema", "tandem.conversation.v1"}, {"messages", messages_}};
  TANDEM_TRY(AtomicFile file, AtomicFile::create(path + ".json"));
  TANDEM_TRY(file.write(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
  return file.commit();
}

Result<void> Conversation::load(const std::string& path) {
  const std::string messages_path = path + ".json";
  TANDEM_TRY(const auto file, MappedFile::open(messages_path));
  const auto* begin = reinterpret_cast<const char*>(file->bytes().data());
  const Json document = Json::parse(begin, begin + file->bytes().size(), nullptr, false);
  const bool usable =
      document.is_object() && document.contains("messages") && document["messages"].is_array();
  if (!usable) {
    return failure(ErrorCode::kCorruptFile, "{}: not a saved conversation", messages_path);
  }
  for (const Json& m : document["messages"]) {
    const bool is_message = m.is_object() && m.contains("role") && m["role"].is_string();
    if (!is_message) {
      return failure(ErrorCode::kCorruptFile, "{}: a message has no role", messages_path);
    }
  }
  TANDEM_TRY(session_->load(path));
  messages_ = document["messages"];
  return {};
}

}  // namespace tandem
