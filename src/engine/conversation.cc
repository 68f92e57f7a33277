// Messages over a session: prompts, replies taken apart, and undoing.

#include "engine/conversation.h"

#include <algorithm>

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

/// How many leading tokens two sequences share.
size_t common_prefix(std::span<const TokenId> a, std::span<const TokenId> b) {
  const size_t n = std::min(a.size(), b.size());
  return std::mismatch(a.begin(), a.begin() + n, b.begin()).first - a.begin();
}

/// Feeds a parser with a reply while it is generated.
class ReplyReader {
 public:
  ReplyReader(ReplyParser parser, const DeltaObserver& on_delta)
      : parser_(std::move(parser)), on_delta_(on_delta) {}

  Result<void> push(std::string_view text) {
    TANDEM_TRY(const auto deltas, parser_.push(text));
    report(deltas);
    return {};
  }

  ReplyMessage finish(ReplyEnd end) {
    report(parser_.finish(end));
    return parser_.message();
  }

 private:
  void report(const std::vector<ReplyDelta>& deltas) {
    if (!on_delta_) return;
    for (const ReplyDelta& delta : deltas) on_delta_(delta);
  }

  ReplyParser parser_;
  const DeltaObserver& on_delta_;
};

}  // namespace

Conversation::Conversation(std::unique_ptr<Session> session, ChatPrompter prompter,
                           ReplyFormat format, ToolTypes tool_types, ConversationOptions options)
    : session_(std::move(session)),
      prompter_(std::move(prompter)),
      format_(std::move(format)),
      tool_types_(std::move(tool_types)),
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
  ToolTypes tool_types;
  if (!options.tools.is_null()) {
    TANDEM_TRY(tool_types, ToolTypes::parse(
                               options.tools.dump(-1, ' ', false, Json::error_handler_t::replace)));
  }
  return Conversation(std::move(session),
                      ChatPrompter(*model.tokenizer(), std::move(*chat_template)),
                      detect_reply_format(source), std::move(tool_types), options);
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
    if (messages_[i]["role"] != "user") continue;
    messages_.erase(messages_.begin() + static_cast<ptrdiff_t>(i), messages_.end());
    return true;
  }
  return false;
}

std::optional<std::string> Conversation::last_question() const {
  for (size_t i = messages_.size(); i-- > 0;) {
    const Json& message = messages_[i];
    if (message["role"] == "user" && message["content"].is_string()) return message["content"];
  }
  return std::nullopt;
}

Result<ChatPrompt> Conversation::prompt() const {
  Json variables = options_.template_variables;
  variables["messages"] = messages_;
  variables["add_generation_prompt"] = true;
  if (!options_.tools.is_null()) variables["tools"] = options_.tools;
  return prompter_.render(std::move(variables));
}

uint32_t Conversation::drop_oldest_turn() {
  const auto is_question = [](const Json& m) { return m["role"] == "user"; };
  const auto first = std::find_if(messages_.begin(), messages_.end(), is_question);
  if (first == messages_.end()) return 0;
  const auto second = std::find_if(first + 1, messages_.end(), is_question);
  if (second == messages_.end()) return 0;
  const auto n_dropped = static_cast<uint32_t>(second - first);
  messages_.erase(first, second);
  return n_dropped;
}

/// The prompt, with at least one position left for a reply; a quarter of the context once turns
/// have to go, so that not every question drops one.
Result<ChatPrompt> Conversation::fitting_prompt(bool may_drop, uint32_t& n_dropped) {
  const uint32_t context = session_->context();
  TANDEM_TRY(auto rendered, prompt());
  if (rendered.tokens.size() < context) return rendered;
  const Json all_messages = messages_;
  while (may_drop && rendered.tokens.size() > context - context / 4) {
    const uint32_t n = drop_oldest_turn();
    if (n == 0) break;
    n_dropped += n;
    TANDEM_TRY(rendered, prompt());
  }
  if (rendered.tokens.size() < context) return rendered;
  messages_ = all_messages;
  return failure(ErrorCode::kContextFull,
                 "the prompt has {} tokens, a context of {} leaves no room for a reply to it",
                 rendered.tokens.size(), context);
}

Result<ConversationReply> Conversation::reply(Sampler& sampler, const GenerationOptions& options,
                                              const GenerationObserver& observer,
                                              const DeltaObserver& on_delta) {
  ConversationReply out;
  TANDEM_TRY(const ChatPrompt prompt, fitting_prompt(options.shift_context, out.n_dropped));
  const auto room = static_cast<int32_t>(session_->context() - prompt.tokens.size());
  GenerationOptions chosen = options;
  const bool is_capped =
      !options.shift_context && (options.max_tokens < 0 || options.max_tokens > room);
  if (is_capped) chosen.max_tokens = room;
  const auto shown = marker_tokens(*session_->engine().model().tokenizer(), format_);
  chosen.shown_control.insert(chosen.shown_control.end(), shown.begin(), shown.end());

  ReplyReader reader(
      ReplyParser(format_, {.starts_in_reasoning = prompt_opens_reasoning(format_, prompt.text),
                            .tools = tool_types_}),
      on_delta);
  Result<void> understood;
  GenerationObserver watch = observer;
  watch.on_token = [&](const SampledToken& token, std::string_view text) {
    if (observer.on_token) observer.on_token(token, text);
    if (understood) understood = reader.push(text);
    if (!understood) session_->cancel();
  };
  watch.on_held_text = [&](std::string_view text) {
    if (observer.on_held_text) observer.on_held_text(text);
    if (understood) understood = reader.push(text);
  };
  // At least one token is computed anew, for its logits.
  const size_t most = prompt.tokens.empty() ? 0 : prompt.tokens.size() - 1;
  const size_t reused = std::min(common_prefix(session_->tokens(), prompt.tokens), most);
  session_->truncate(static_cast<uint32_t>(reused));
  TANDEM_TRY(auto generated,
             generate(*session_, sampler, std::span(prompt.tokens).subspan(reused), chosen, watch));
  TANDEM_TRY(understood);
  const bool is_whole = generated.finish_reason == FinishReason::kStop;
  out.message = reader.finish(is_whole ? ReplyEnd::kStopped : ReplyEnd::kCutOff);
  out.n_reused = static_cast<uint32_t>(reused);
  out.context_is_full = is_capped && generated.finish_reason == FinishReason::kLength;
  static_cast<GenerationResult&>(out) = std::move(generated);
  return out;
}

void Conversation::add_reply(const ReplyMessage& reply) {
  Json message{{"role", "assistant"}, {"content", reply.content}};
  if (!reply.reasoning.empty()) message["reasoning_content"] = reply.reasoning;
  for (const ToolCall& call : reply.tool_calls) {
    auto arguments = Json::parse(call.arguments, nullptr, false);
    if (call.state != CallState::kComplete || !arguments.is_object()) {
      message["content"].get_ref<std::string&>() += call.raw;
      continue;
    }
    ++n_calls_;
    // Nine letters and digits, which is what the strictest templates (Mistral) demand.
    const std::string id = call.id.empty() ? fmt::format("call{:05}", n_calls_ % 100000) : call.id;
    message["tool_calls"].push_back(
        {{"id", id},
         {"type", "function"},
         {"function", {{"name", call.name}, {"arguments", std::move(arguments)}}}});
  }
  messages_.push_back(std::move(message));
}

Result<ConversationReply> Conversation::exchange(Json message, Sampler& sampler,
                                                 const GenerationOptions& options,
                                                 const GenerationObserver& observer,
                                                 const DeltaObserver& on_delta) {
  messages_.push_back(std::move(message));
  auto result = reply(sampler, options, observer, on_delta);
  if (!result || result->tokens.empty()) {
    messages_.erase(messages_.size() - 1);
    return result;
  }
  add_reply(result->message);
  return result;
}

Result<ConversationReply> Conversation::ask(const std::string& text, Sampler& sampler,
                                            const GenerationOptions& options,
                                            const GenerationObserver& observer,
                                            const DeltaObserver& on_delta) {
  return exchange({{"role", "user"}, {"content", text}}, sampler, options, observer, on_delta);
}

Json Conversation::next_open_call() const {
  size_t n_results = 0;
  for (size_t i = messages_.size(); i-- > 0;) {
    const Json& message = messages_[i];
    if (message["role"] == "tool") {
      ++n_results;
      continue;
    }
    const bool has_calls = message.contains("tool_calls") && message["tool_calls"].is_array();
    if (!has_calls || n_results >= message["tool_calls"].size()) return nullptr;
    return message["tool_calls"][n_results];
  }
  return nullptr;
}

Result<ConversationReply> Conversation::answer_call(const std::string& result, Sampler& sampler,
                                                    const GenerationOptions& options,
                                                    const GenerationObserver& observer,
                                                    const DeltaObserver& on_delta) {
  const Json call = next_open_call();
  if (call.is_null()) {
    return failure(ErrorCode::kInvalidArgument, "no tool call waits for a result");
  }
  return exchange({{"role", "tool"},
                   {"tool_call_id", call["id"]},
                   {"name", call["function"]["name"]},
                   {"content", result}},
                  sampler, options, observer, on_delta);
}

}  // namespace tandem
