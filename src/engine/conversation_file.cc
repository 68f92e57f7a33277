// Saving a conversation and loading it again: the session's file, and its messages beside it.

#include "base/atomic_file.h"
#include "base/mapped_file.h"
#include "engine/conversation.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxDepth = 200;  // as deep as templates look

bool is_shallow(const Json& json, int depth) {
  if (depth > kMaxDepth) return false;
  if (!json.is_structured()) return true;
  for (const Json& item : json) {
    if (!is_shallow(item, depth + 1)) return false;
  }
  return true;
}

bool is_call(const Json& call) {
  return call.is_object() && call.contains("id") && call["id"].is_string() &&
         call.contains("function") && call["function"].is_object() &&
         call["function"].contains("name") && call["function"]["name"].is_string();
}

/// What is wrong with a message; empty when it can be used.
const char* fault_of(const Json& message) {
  if (!message.is_object()) return "is not an object";
  if (!message.contains("role") || !message["role"].is_string()) return "has no role";
  if (!message.contains("content") || !message["content"].is_string()) return "has no content";
  if (!is_shallow(message, 0)) return "is nested too deeply";
  if (!message.contains("tool_calls")) return "";
  if (!message["tool_calls"].is_array()) return "has tool_calls that are no array";
  for (const Json& call : message["tool_calls"]) {
    if (!is_call(call)) return "has a tool call without id or function";
  }
  return "";
}

}  // namespace

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
  const Json& messages = document["messages"];
  for (size_t i = 0; i < messages.size(); ++i) {
    const std::string fault = fault_of(messages[i]);
    if (fault.empty()) continue;
    return failure(ErrorCode::kCorruptFile, "{}: message {} {}", messages_path, i, fault);
  }
  TANDEM_TRY(session_->load(path));
  messages_ = messages;
  const bool has_system = !messages_.empty() && messages_[0]["role"] == "system";
  options_.system = has_system ? messages_[0]["content"] : "";
  return {};
}

}  // namespace tandem
