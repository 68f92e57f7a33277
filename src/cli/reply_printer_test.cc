#include "cli/reply_printer.h"

#include <gtest/gtest.h>

#include "text/reply/reply_parser.h"

namespace tandem::cli {
namespace {

/// What a person sees of `reply` when it comes in pieces of three bytes.
std::string shown(std::string_view reply, ReplyEnd end = ReplyEnd::kStopped, bool styled = false) {
  ::testing::internal::CaptureStdout();
  ReplyParser parser(*find_reply_format("hermes"));
  ReplyPrinter printer(styled);
  for (size_t at = 0; at < reply.size(); at += 3) {
    const auto deltas = parser.push(reply.substr(at, 3));
    for (const ReplyDelta& delta : deltas.value()) printer.print(delta);
  }
  for (const ReplyDelta& delta : parser.finish(end)) printer.print(delta);
  printer.finish();
  EXPECT_TRUE(printer.outcome());
  return ::testing::internal::GetCapturedStdout();
}

TEST(ReplyPrinter, EndsTheLineOnce) {
  EXPECT_EQ(shown("서울은 큰 도시예요."), "서울은 큰 도시예요.\n");
  EXPECT_EQ(shown("two\nlines\n"), "two\nlines\n");
  EXPECT_EQ(shown(""), "");
}

TEST(ReplyPrinter, SetsReasoningApart) {
  EXPECT_EQ(shown("<think>hm</think>yes"), "(thinking) hm\nyes\n");
  EXPECT_EQ(shown("<think>hm</think>yes", ReplyEnd::kStopped, true), "\033[2mhm\033[0m\nyes\n");
}

TEST(ReplyPrinter, ShowsCallsOnLinesOfTheirOwn) {
  const std::string call =
      R"(<tool_call>{"name": "play", "arguments": {"q": "아리랑"}}</tool_call>)";
  EXPECT_EQ(shown("ok" + call + call),
            "ok\ntool call: play({\"q\": \"아리랑\"})\ntool call: play({\"q\": \"아리랑\"})\n");
}

TEST(ReplyPrinter, SaysWhenACallIsNotWhole) {
  const std::string cut =
      shown(R"(<tool_call>{"name": "play", "arguments": {"q": "a)", ReplyEnd::kCutOff);
  EXPECT_NE(cut.find("[cut off]"), std::string::npos) << cut;
  const std::string broken = shown("<tool_call>{nonsense</tool_call>");
  EXPECT_NE(broken.find("[not a valid call]"), std::string::npos) << broken;
  EXPECT_NE(broken.find("{nonsense"), std::string::npos) << "nothing is lost";
}

}  // namespace
}  // namespace tandem::cli
