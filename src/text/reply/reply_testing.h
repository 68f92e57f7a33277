#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "text/reply/reply_parser.h"

namespace tandem {

/// A message on a few lines, for comparing: content, reasoning, and each call with its state.
inline std::string describe(const ReplyMessage& message) {
  std::string out = "content: " + message.content + "\n";
  if (!message.reasoning.empty()) out += "reasoning: " + message.reasoning + "\n";
  if (message.is_reasoning_open) out += "reasoning is open\n";
  for (const ToolCall& call : message.tool_calls) {
    out += std::string(to_string(call.state)) + ": " + call.name + call.arguments;
    if (!call.id.empty()) out += " id " + call.id;
    if (!call.raw.empty()) out += " raw " + call.raw;
    out += "\n";
  }
  return out;
}

/// Puts a message together from deltas alone, and checks the order they promise.
class DeltaReader {
 public:
  void read(const std::vector<ReplyDelta>& deltas) {
    for (const ReplyDelta& delta : deltas) read(delta);
  }
  const ReplyMessage& message() const { return message_; }

 private:
  using Kind = ReplyDelta::Kind;

  void read(const ReplyDelta& delta) {
    auto& calls = message_.tool_calls;
    switch (delta.kind) {
      case Kind::kContent:
        message_.content += delta.text;
        return;
      case Kind::kReasoning:
        message_.reasoning += delta.text;
        return;
      case Kind::kCallStart:
        EXPECT_EQ(delta.call, calls.size()) << "calls are numbered from 0 on";
        EXPECT_FALSE(is_open_) << "one call at a time";
        EXPECT_FALSE(delta.text.empty()) << "a started call has its name";
        calls.push_back({.id = delta.id, .name = delta.text});
        is_open_ = true;
        return;
      case Kind::kCallArguments:
        EXPECT_TRUE(is_open_);
        EXPECT_EQ(delta.call + 1, calls.size());
        calls.back().arguments += delta.text;
        return;
      case Kind::kCallEnd:
        break;
    }
    if (!is_open_) {
      EXPECT_NE(delta.state, CallState::kComplete) << "a complete call was started";
      calls.push_back({});
    }
    EXPECT_EQ(delta.call + 1, calls.size());
    calls.back().state = delta.state;
    calls.back().raw = delta.text;
    calls.back().id = delta.id;
    is_open_ = false;
  }

  ReplyMessage message_;
  bool is_open_ = false;
};

/// Parses `pieces` and checks that the deltas tell the same as the message.
inline ReplyMessage parse_pieces(const ReplyFormat& format,
                                 const std::vector<std::string_view>& pieces,
                                 const ReplyOptions& options = {},
                                 ReplyEnd end = ReplyEnd::kStopped) {
  ReplyParser parser(format, options);
  DeltaReader reader;
  for (const std::string_view piece : pieces) {
    const auto deltas = parser.push(piece);
    EXPECT_TRUE(deltas.has_value());
    if (deltas) reader.read(*deltas);
  }
  reader.read(parser.finish(end));
  ReplyMessage told = reader.message();
  told.is_reasoning_open = parser.message().is_reasoning_open;
  // Of calls without a start only the end is told.
  for (size_t i = 0; i < told.tool_calls.size(); ++i) {
    if (told.tool_calls[i].name.empty()) told.tool_calls[i] = parser.message().tool_calls[i];
  }
  EXPECT_EQ(describe(told), describe(parser.message()));
  return parser.message();
}

/// Parses `text` whole, in two pieces at every place, byte by byte and in threes, and checks that
/// the message is always the same; returns it.
inline ReplyMessage parse_every_way(const ReplyFormat& format, std::string_view text,
                                    const ReplyOptions& options = {},
                                    ReplyEnd end = ReplyEnd::kStopped) {
  const ReplyMessage whole = parse_pieces(format, {text}, options, end);
  const std::string expected = describe(whole);
  for (size_t i = 1; i < text.size(); ++i) {
    const auto split = parse_pieces(format, {text.substr(0, i), text.substr(i)}, options, end);
    EXPECT_EQ(describe(split), expected) << "split at " << i << " of " << text;
    if (describe(split) != expected) break;
  }
  for (const size_t step : {1, 3}) {
    std::vector<std::string_view> pieces;
    for (size_t i = 0; i < text.size(); i += step) pieces.push_back(text.substr(i, step));
    EXPECT_EQ(describe(parse_pieces(format, pieces, options, end)), expected)
        << "pieces of " << step << " of " << text;
  }
  return whole;
}

inline ReplyFormat format_named(std::string_view name) {
  const auto format = find_reply_format(name);
  EXPECT_TRUE(format.has_value());
  return format ? *format : ReplyFormat{.name = "plain"};
}

/// parse_every_way in the words of describe.
inline std::string said(std::string_view format, std::string_view text,
                        const ReplyOptions& options = {}, ReplyEnd end = ReplyEnd::kStopped) {
  return describe(parse_every_way(format_named(format), text, options, end));
}

}  // namespace tandem
