// A reply of any text in any format: no crash, the same message for every split, deltas that tell
// the same, and complete calls that are what they promise.
//
// Input: format index, options (bit 0 cut off, 1 starts in reasoning, 2 tools known), piece length,
// then the text.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "text/reply/json_scanner.h"
#include "text/reply/reply_parser.h"

namespace {

using namespace tandem;

void require(bool condition) {
  if (!condition) std::abort();
}

bool equal(const ReplyMessage& a, const ReplyMessage& b) {
  if (a.content != b.content || a.reasoning != b.reasoning) return false;
  if (a.is_reasoning_open != b.is_reasoning_open) return false;
  if (a.tool_calls.size() != b.tool_calls.size()) return false;
  for (size_t i = 0; i < a.tool_calls.size(); ++i) {
    const ToolCall &x = a.tool_calls[i], &y = b.tool_calls[i];
    if (x.name != y.name || x.arguments != y.arguments || x.id != y.id) return false;
    if (x.state != y.state || x.raw != y.raw) return false;
  }
  return true;
}

/// Joins the deltas; calls that end without a start have no name or arguments there.
void read(const std::vector<ReplyDelta>& deltas, ReplyMessage& message) {
  for (const ReplyDelta& delta : deltas) {
    auto& calls = message.tool_calls;
    switch (delta.kind) {
      case ReplyDelta::Kind::kContent:
        message.content += delta.text;
        break;
      case ReplyDelta::Kind::kReasoning:
        message.reasoning += delta.text;
        break;
      case ReplyDelta::Kind::kCallStart:
        require(delta.call == calls.size() && !delta.text.empty());
        calls.push_back({.name = delta.text});
        break;
      case ReplyDelta::Kind::kCallArguments:
        require(delta.call + 1 == calls.size());
        calls.back().arguments += delta.text;
        break;
      case ReplyDelta::Kind::kCallEnd:
        if (delta.call == calls.size()) calls.push_back({});
        calls.at(delta.call).state = delta.state;
        break;
    }
  }
}

void check(const ReplyMessage& told, const ReplyMessage& message) {
  require(told.content == message.content && told.reasoning == message.reasoning);
  require(told.tool_calls.size() == message.tool_calls.size());
  for (size_t i = 0; i < told.tool_calls.size(); ++i) {
    const ToolCall& call = message.tool_calls[i];
    require(told.tool_calls[i].name == call.name && told.tool_calls[i].state == call.state);
    if (!call.name.empty()) require(told.tool_calls[i].arguments == call.arguments);
    if (call.state != CallState::kComplete) continue;
    require(!call.name.empty() && call.raw.empty());
    require(call.arguments.starts_with('{') && is_json(call.arguments));
  }
}

ReplyMessage parse(const ReplyFormat& format, std::string_view text, size_t piece,
                   const ReplyOptions& options, ReplyEnd end) {
  ReplyParser parser(format, options);
  ReplyMessage told;
  for (size_t i = 0; i < text.size(); i += piece) {
    const auto deltas = parser.push(text.substr(i, piece));
    require(deltas.has_value());
    read(*deltas, told);
  }
  read(parser.finish(end), told);
  check(told, parser.message());
  return parser.message();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const auto formats = reply_formats();
  const ReplyFormat& format = formats[data[0] % formats.size()];
  ReplyOptions options;
  options.starts_in_reasoning = (data[1] & 2) != 0;
  if ((data[1] & 4) != 0) {
    const auto tools = ToolTypes::parse(
        R"([{"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}, {"name": "g"}])");
    require(tools.has_value());
    options.tools = *tools;
  }
  const auto end = (data[1] & 1) != 0 ? ReplyEnd::kCutOff : ReplyEnd::kStopped;
  const size_t piece = 1 + data[2] % 32;
  const std::string_view text(reinterpret_cast<const char*>(data + 3), size - 3);
  const ReplyMessage whole = parse(format, text, text.size() + 1, options, end);
  require(equal(whole, parse(format, text, piece, options, end)));
  return 0;
}
