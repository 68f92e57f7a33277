#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/reply/reply.h"
#include "text/reply/reply_format.h"
#include "text/reply/tool_types.h"

namespace tandem {

struct ReplyOptions {
  /// The prompt already opened the reasoning block (prompt_opens_reasoning).
  bool starts_in_reasoning = false;
  /// The tools that were offered. Helps with values written without quotes, and keeps text that
  /// merely looks like a call, with no marker before it, from being taken for one.
  ToolTypes tools = {};
  size_t max_bytes = size_t{64} << 20;  ///< of the whole reply
};

/// How a reply came to its end.
enum class ReplyEnd {
  kStopped,  ///< the model ended it
  kCutOff,   ///< a limit or the user did
};

/// Takes a model's reply apart while it comes in: content, reasoning and tool calls. One reply, one
/// thread. The result does not depend on how the text was split into pieces.
///
///   ReplyParser parser(detect_reply_format(template_source));
///   for (text pieces) { TANDEM_TRY(const auto deltas, parser.push(piece)); ... }
///   const auto last = parser.finish(ReplyEnd::kStopped);
///   parser.message();
class ReplyParser {
 public:
  explicit ReplyParser(ReplyFormat format, ReplyOptions options = {});
  ReplyParser(ReplyParser&&) noexcept;
  ReplyParser& operator=(ReplyParser&&) noexcept;
  ~ReplyParser();

  /// The next piece of the reply, as the detokenizer prints it with the control tokens that are
  /// among reply_markers. Returns what is new. Text that may yet become a marker is held back, and
  /// no more than that. Errors: kInvalidArgument when the reply exceeds max_bytes.
  Result<std::vector<ReplyDelta>> push(std::string_view text);

  /// Releases what was held back and ends an open call as incomplete. Call once.
  std::vector<ReplyDelta> finish(ReplyEnd end);

  /// What was understood so far; everything after finish.
  const ReplyMessage& message() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Takes a whole reply apart. Errors as push.
Result<ReplyMessage> parse_reply(const ReplyFormat& format, std::string_view text,
                                 ReplyOptions options = {}, ReplyEnd end = ReplyEnd::kStopped);

}  // namespace tandem
