// From a task row to the ids a model answers, and from its answer to a verdict.

#include <algorithm>
#include <optional>

#include "engine/chat_prompt.h"
#include "evaluation/task_judge.h"
#include "evaluation/task_runner.h"

namespace tandem {

struct TaskPrompter::State {
  const Model* model;
  const Tokenizer* tokenizer;
  std::optional<ChatPrompter> chat;  ///< nothing without a chat template
  ReplyFormat format;
  std::vector<TokenId> shown;
};

TaskPrompter::TaskPrompter(std::unique_ptr<State> state) : state_(std::move(state)) {}
TaskPrompter::TaskPrompter(TaskPrompter&&) noexcept = default;
TaskPrompter::~TaskPrompter() = default;

Result<TaskPrompter> TaskPrompter::create(const Model& model) {
  auto state = std::make_unique<State>();
  state->model = &model;
  state->tokenizer = model.tokenizer();
  if (state->tokenizer == nullptr) {
    return failure(ErrorCode::kUnsupported, "{}: the model has no tokenizer, tasks need one",
                   model.metadata().source());
  }
  state->format = detect_reply_format(model.chat_template());
  state->shown = marker_tokens(*state->tokenizer, state->format);
  if (!model.chat_template().empty()) {
    TANDEM_TRY(auto chat, ChatTemplate::parse(model.chat_template()));
    state->chat.emplace(*state->tokenizer, std::move(chat));
  }
  return TaskPrompter(std::move(state));
}

Result<std::vector<TokenId>> TaskPrompter::prompt(const TaskRow& row) const {
  if (row.messages.is_null()) return state_->tokenizer->encode(row.prompt);
  if (!state_->chat) {
    return failure(ErrorCode::kUnsupported, "{}: the model has no chat template; the row needs one",
                   state_->model->metadata().source());
  }
  nlohmann::ordered_json variables{{"messages", row.messages}, {"add_generation_prompt", true}};
  if (!row.tools.is_null()) variables["tools"] = row.tools;
  TANDEM_TRY(auto prompt, state_->chat->render(std::move(variables)));
  return std::move(prompt.tokens);
}

Result<std::vector<std::vector<TokenId>>> TaskPrompter::choices(
    const TaskRow& row, std::vector<TokenId>& prompt) const {
  std::vector<std::vector<TokenId>> out;
  if (!row.messages.is_null()) {
    for (const std::string& text : row.choices) {
      TANDEM_TRY(out.emplace_back(), state_->tokenizer->encode(text, {.add_special = false}));
    }
    return out;
  }
  // A choice's first letters may merge with the prompt's last ones, as in ordinary text.
  size_t n_common = prompt.size();
  for (const std::string& text : row.choices) {
    TANDEM_TRY(out.emplace_back(), state_->tokenizer->encode(row.prompt + text));
    const size_t n = std::min(n_common, out.back().size() - 1);
    n_common = std::mismatch(prompt.begin(), prompt.begin() + n, out.back().begin()).first -
               prompt.begin();
  }
  prompt.resize(n_common);
  for (auto& tokens : out) tokens.erase(tokens.begin(), tokens.begin() + n_common);
  return out;
}

std::string TaskPrompter::text(std::span<const TokenId> answer) const {
  return state_->tokenizer->decode(
      answer, {.show_control = false, .shown_control = state_->shown, .begins_text = false});
}

bool TaskPrompter::judge(const TaskRow& row, const TaskAnswer& answer) const {
  return is_right(row, answer.text, state_->format,
                  answer.is_cut ? ReplyEnd::kCutOff : ReplyEnd::kStopped);
}

}  // namespace tandem
