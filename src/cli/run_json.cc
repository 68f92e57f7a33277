// The JSON document of `tandem run --json`.

#include "cli/run_json.h"

#include <algorithm>

namespace tandem::cli {
namespace {

using Json = nlohmann::ordered_json;

Json message_json(const ReplyMessage& message) {
  Json out{{"content", message.content}};
  if (!message.reasoning.empty()) out["reasoning"] = message.reasoning;
  for (const ToolCall& call : message.tool_calls) {
    Json entry{
        {"name", call.name}, {"arguments", call.arguments}, {"state", to_string(call.state)}};
    if (!call.id.empty()) entry["id"] = call.id;
    if (!call.raw.empty()) entry["raw"] = call.raw;
    out["tool_calls"].push_back(std::move(entry));
  }
  return out;
}

/// "tool_calls" when the model ended its turn with calls that can be carried out.
std::string finish_reason(const RunReport& report) {
  const FinishReason reason = report.result.finish_reason;
  const bool has_calls = report.message && !report.message->tool_calls.empty();
  if (!has_calls || reason != FinishReason::kStop) return to_string(reason);
  const auto& calls = report.message->tool_calls;
  const bool is_whole = std::all_of(calls.begin(), calls.end(), [](const ToolCall& call) {
    return call.state == CallState::kComplete;
  });
  return is_whole ? "tool_calls" : to_string(reason);
}

Json token_json(TokenId id, float logprob, const Tokenizer& tokenizer) {
  const std::string_view piece = tokenizer.piece_bytes(id);
  return {{"id", id},
          {"token", piece},
          {"bytes", std::vector<uint8_t>(piece.begin(), piece.end())},
          {"logprob", logprob}};
}

Json logprobs_json(const std::vector<LoggedToken>& tokens, const Tokenizer& tokenizer) {
  Json out = Json::array();
  for (const LoggedToken& token : tokens) {
    Json entry = token_json(token.id, token.logprob, tokenizer);
    entry["top"] = Json::array();
    for (const TokenLogprob& other : token.top) {
      entry["top"].push_back(token_json(other.id, other.logprob, tokenizer));
    }
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace

std::string run_document(const RunReport& report, const RunStats* stats,
                         const Tokenizer& tokenizer) {
  Json document{{"schema", "tandem.run.v1"}, {"text", report.result.text}};
  if (report.message) document["message"] = message_json(*report.message);
  document["finish_reason"] = finish_reason(report);
  document["tokens"] = report.result.tokens;
  if (!report.logprobs.empty()) document["logprobs"] = logprobs_json(report.logprobs, tokenizer);
  document["stats"] = stats != nullptr ? stats->to_json() : Json();
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tandem::cli
