// Judges answers to task rows.

#include "evaluation/task_judge.h"

#include <algorithm>

namespace tandem {
namespace {

using Json = nlohmann::json;

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

bool is_json_equal(std::string_view text, const Json& expected) {
  const Json value = Json::parse(text, nullptr, false);
  return !value.is_discarded() && value == expected;
}

bool is_call_equal(const ToolCall& call, const Json& expected) {
  if (call.state != CallState::kComplete || !expected.is_object()) return false;
  const auto name = expected.find("name");
  const auto arguments = expected.find("arguments");
  if (name == expected.end() || arguments == expected.end()) return false;
  return *name == call.name && is_json_equal(call.arguments, *arguments);
}

/// Null expects no call at all, not even a broken one.
bool are_calls_equal(const std::vector<ToolCall>& calls, const Json& expected) {
  if (expected.is_null()) return calls.empty();
  if (!expected.is_array()) return calls.size() == 1 && is_call_equal(calls[0], expected);
  return std::equal(calls.begin(), calls.end(), expected.begin(), expected.end(), is_call_equal);
}

bool is_content_right(const TaskRow& row, std::string_view content) {
  const std::string_view text = trimmed(content);
  if (row.kind == TaskKind::kJson) return is_json_equal(text, row.expected);
  return text == trimmed(row.expected.get_ref<const std::string&>());
}

}  // namespace

bool is_right(const TaskRow& row, std::string_view reply, const ReplyFormat& format, ReplyEnd end) {
  if (row.messages.is_null()) return is_content_right(row, reply);
  ToolTypes tools;
  if (!row.tools.is_null()) {
    auto parsed = ToolTypes::parse(row.tools.dump(-1, ' ', false, Json::error_handler_t::replace));
    if (parsed) tools = std::move(*parsed);
  }
  const auto message = parse_reply(format, reply, {.tools = std::move(tools)}, end);
  if (!message) return false;
  if (row.kind == TaskKind::kToolCall) return are_calls_equal(message->tool_calls, row.expected);
  return message->tool_calls.empty() && is_content_right(row, message->content);
}

size_t likeliest(const std::vector<double>& log_likelihoods) {
  return std::max_element(log_likelihoods.begin(), log_likelihoods.end()) - log_likelihoods.begin();
}

}  // namespace tandem
