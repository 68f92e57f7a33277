#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tandem {

/// How much of a tool call the model wrote.
enum class CallState {
  kComplete,    ///< name and arguments are whole; arguments is a JSON object
  kIncomplete,  ///< the reply ended inside the call; never to be executed
  kBroken,      ///< not what the format allows (bad JSON, no name); `raw` has the model's text
};

/// "complete", "incomplete" or "broken".
const char* to_string(CallState state);

struct ToolCall {
  std::string id = {};         ///< the model's own id; empty when the format has none
  std::string name = {};       ///< empty when the reply ended or broke before it was known
  std::string arguments = {};  ///< JSON text; of an incomplete or broken call what was read so far
  CallState state = CallState::kIncomplete;
  std::string raw = {};  ///< the model's text with its markers, unless the call is complete
};

/// What the model said, taken apart.
struct ReplyMessage {
  std::string content;
  std::string reasoning;
  std::vector<ToolCall> tool_calls;
  /// The reply ended inside a reasoning block.
  bool is_reasoning_open = false;
};

/// One piece of news while a reply streams in. Joined together the deltas give the ReplyMessage.
struct ReplyDelta {
  enum class Kind {
    kContent,        ///< text
    kReasoning,      ///< text
    kCallStart,      ///< call, text (the name), id; once a call whose name is known
    kCallArguments,  ///< call, text (the next piece of JSON)
    kCallEnd,        ///< call, state, text (raw, unless complete), id (some come late)
  };
  Kind kind;
  std::string text = {};
  size_t call = 0;  ///< index into ReplyMessage::tool_calls
  std::string id = {};
  CallState state = CallState::kIncomplete;
};

}  // namespace tandem
