// What the parser promises beside the formats: streaming, ends, limits. Formats:
// reply_syntax_test.cc.

#include "text/reply/reply_parser.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "text/reply/reply_testing.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using Kind = ReplyDelta::Kind;

std::string content_of(const std::vector<ReplyDelta>& deltas) {
  std::string text;
  for (const ReplyDelta& delta : deltas) {
    if (delta.kind == Kind::kContent) text += delta.text;
  }
  return text;
}

TEST(ReplyParser, PlainTextIsContentToTheByte) {
  for (const std::string text : {"", " ", "안녕하세요!\n\n 끝 \n", "a < b && c > d", "{\"a\": 1}",
                                 "```\n[x]\n```", "<think", "</think>", "<tool_cal"}) {
    EXPECT_EQ(said("hermes", text), "content: " + text + "\n");
    EXPECT_EQ(said("plain", text), "content: " + text + "\n");
  }
}

// Field report E04's rule, for markers: nothing is held back but what may still become one.
TEST(ReplyParser, TextIsReleasedAtOnceUnlessItMayBecomeAMarker) {
  ReplyParser parser(format_named("hermes"));
  EXPECT_EQ(content_of(*parser.push("a < b")), "a < b");
  EXPECT_EQ(content_of(*parser.push(" or <tool")), " or");
  EXPECT_EQ(content_of(*parser.push("box>")), " <toolbox>");
  EXPECT_EQ(content_of(*parser.push(" end <")), " end");
  EXPECT_EQ(content_of(parser.finish(ReplyEnd::kStopped)), " <");
  EXPECT_EQ(parser.message().content, "a < b or <toolbox> end <");
}

TEST(ReplyParser, WithoutMarkersNothingIsHeldBack) {
  ReplyParser parser(format_named("plain"));
  EXPECT_EQ(content_of(*parser.push("a")), "a");
  EXPECT_EQ(content_of(*parser.push(" \n<th")), " \n<th");
  EXPECT_EQ(content_of(*parser.push("ink>")), "ink>");
}

TEST(ReplyParser, ArgumentsStreamAsTheyCome) {
  ReplyParser parser(format_named("hermes"));
  const auto start = *parser.push("<tool_call>\n{\"name\": \"write\", \"arguments\": {\"te");
  ASSERT_EQ(start.size(), 2u);
  EXPECT_EQ(start[0].kind, Kind::kCallStart);
  EXPECT_EQ(start[0].text, "write");
  EXPECT_EQ(start[1].text, "{\"te");
  EXPECT_EQ(parser.push("xt\": \"하나")->at(0).text, "xt\": \"하나");
  EXPECT_EQ(parser.push(" 둘\"}")->at(0).text, " 둘\"}");
  EXPECT_EQ(parser.push("}\n</tool_call>")->at(0).kind, Kind::kCallEnd);
}

// E07: index 0 then 1, the name once and first, fragments that join to JSON, equal to the whole.
TEST(ReplyParser, E07_StreamedCallsAreNumberedNamedOnceAndJoinToJson) {
  const std::string text =
      "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": "
      "\"서울\"}}\n</tool_call>\n"
      "<tool_call>\n{\"name\": \"get_time\", \"arguments\": {\"zone\": [9, "
      "\"KST\"]}}\n</tool_call>";
  ReplyParser parser(format_named("hermes"));
  std::vector<ReplyDelta> deltas;
  for (const char c : text) {
    const auto news = parser.push(std::string_view(&c, 1));
    deltas.insert(deltas.end(), news->begin(), news->end());
  }
  EXPECT_TRUE(parser.finish(ReplyEnd::kStopped).empty());
  std::vector<std::string> names, arguments(2);
  std::vector<size_t> ended;
  for (const ReplyDelta& delta : deltas) {
    ASSERT_NE(delta.kind, Kind::kContent);
    if (delta.kind == Kind::kCallStart) {
      EXPECT_EQ(delta.call, names.size());
      names.push_back(delta.text);
    } else if (delta.kind == Kind::kCallArguments) {
      EXPECT_EQ(delta.call + 1, names.size());
      arguments.at(delta.call) += delta.text;
    } else {
      EXPECT_EQ(delta.state, CallState::kComplete);
      ended.push_back(delta.call);
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"get_weather", "get_time"}));
  EXPECT_EQ(ended, (std::vector<size_t>{0, 1}));
  EXPECT_TRUE(nlohmann::json::accept(arguments[0]));
  EXPECT_TRUE(nlohmann::json::accept(arguments[1]));
  EXPECT_EQ(describe(parser.message()), said("hermes", text));
}

// E08: a limit inside the second of two calls, at every place, in every way to write calls.
TEST(ReplyParser, E08_ACallThatIsCutOffIsNeverComplete) {
  const std::pair<const char*, std::pair<const char*, const char*>> replies[] = {
      {"hermes",
       {"<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call>",
        "<tool_call>{\"name\": \"g\", \"arguments\": {\"b\": {\"c\": 2}}"}},
      {"qwen3_coder",
       {"<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n"
        "</tool_call>",
        "\n<tool_call>\n<function=g>\n<parameter=b>\n{\"c\": 2}\n</parameter>\n</functio"}},
      {"llama3",
       {"{\"name\": \"f\", \"parameters\": {\"a\": 1}}",
        "; {\"name\": \"g\", \"parameters\": {\"b\": {\"c\": 2}}"}},
      {"mistral", {"[TOOL_CALLS]f[ARGS]{\"a\": 1}", "[TOOL_CALLS]g[ARGS]{\"b\": {\"c\": 2}"}},
      {"mistral",
       {"[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"a\": 1}}",
        ", {\"name\": \"g\", \"arguments\": {\"b\": {\"c\": 2}}"}},
      {"lfm2", {"<|tool_call_start|>[f(a=1)", ", g(b={'c': 2}"}},
      {"gemma4", {"<|tool_call>call:f{a:1}<tool_call|>", "<|tool_call>call:g{b:{c:2}}<tool_call"}},
      {"deepseek",
       {"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\": 1}<｜tool▁call▁end｜>",
        "<｜tool▁call▁begin｜>g<｜tool▁sep｜>{\"b\": {\"c\": 2}"}},
      {"glm",
       {"<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>",
        "<tool_call>g<arg_key>b</arg_key><arg_value>{\"c\": 2}</arg_value></tool_cal"}},
      {"harmony",
       {"<|channel|>commentary to=functions.f<|message|>{\"a\": 1}<|call|>",
        "<|start|>assistant to=functions.g<|channel|>commentary<|message|>{\"b\": {\"c\": 2}"}},
  };
  for (const auto& [name, parts] : replies) {
    const std::string first = parts.first, second = parts.second;
    for (size_t n = 0; n <= second.size(); ++n) {
      SCOPED_TRACE(first + second.substr(0, n));
      const auto message =
          parse_pieces(format_named(name), {first, second.substr(0, n)}, {}, ReplyEnd::kCutOff);
      ASSERT_FALSE(message.tool_calls.empty());
      const ToolCall& call = message.tool_calls[0];
      EXPECT_EQ(call.name + call.arguments, "f{\"a\": 1}");
      EXPECT_EQ(call.state, CallState::kComplete);
      for (size_t i = 1; i < message.tool_calls.size(); ++i) {
        EXPECT_EQ(message.tool_calls[i].state, CallState::kIncomplete);
        EXPECT_FALSE(message.tool_calls[i].raw.empty() && message.tool_calls[i].name.empty());
      }
    }
  }
}

TEST(ReplyParser, ACutOffCallKeepsNameArgumentsAndText) {
  EXPECT_EQ(said("hermes", "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"city\": \"서"),
            "content: \nincomplete: f{\"city\": \"서 raw <tool_call>\n{\"name\": \"f\", "
            "\"arguments\": {\"city\": \"서\n");
  EXPECT_EQ(said("hermes", "Let me see.\n<tool_call>"),
            "content: Let me see.\nincomplete:  raw <tool_call>\n");
}

TEST(ReplyParser, ReasoningIsTakenOut) {
  EXPECT_EQ(said("hermes", "<think>\nHm, 서울?\nYes.\n</think>\n\nIt is."),
            "content: It is.\nreasoning: Hm, 서울?\nYes.\n");
  EXPECT_EQ(said("hermes", "<think>\n\n</think>\n\nIt is."), "content: It is.\n");
  EXPECT_EQ(said("hermes", "\n<think>a</think>b"), "content: b\nreasoning: a\n");
}

TEST(ReplyParser, ReasoningThatThePromptOpened) {
  const ReplyOptions options{.starts_in_reasoning = true};
  EXPECT_EQ(said("hermes", "\nHm.\n</think>\n\nIt is.", options),
            "content: It is.\nreasoning: Hm.\n");
  EXPECT_EQ(said("deepseek", "Hm.", options), "content: \nreasoning: Hm.\nreasoning is open\n");
}

TEST(ReplyParser, AThinkTagInTheMiddleOfTheTextIsText) {
  EXPECT_EQ(said("hermes", "Use <think> and </think>."), "content: Use <think> and </think>.\n");
}

TEST(ReplyParser, ATagInsideReasoningStartsNoCall) {
  EXPECT_EQ(said("hermes", "<think>I write <tool_call> now</think>Hi"),
            "content: Hi\nreasoning: I write <tool_call> now\n");
}

TEST(ReplyParser, TextBesideCallsIsKept) {
  EXPECT_EQ(said("hermes",
                 "One.\n<tool_call>{\"name\": \"f\"}</tool_call>\nTwo.\n"
                 "<tool_call>{\"name\": \"g\"}</tool_call>\n"),
            "content: One.\n\nTwo.\ncomplete: f{}\ncomplete: g{}\n");
}

TEST(ReplyParser, SpaceAfterACallWithoutEndMarkerDoesNotDependOnTheSplit) {
  EXPECT_EQ(said("mistral", "A[TOOL_CALLS]f{} B"), "content: A B\ncomplete: f{}\n");
  EXPECT_EQ(said("granite3", "A<|tool_call|>[{\"name\": \"f\"}] B"),
            "content: A B\ncomplete: f{}\n");
}

// Not JSON: broken, with every byte of it kept, and the reply goes on.
TEST(ReplyParser, BrokenCallsKeepTheirText) {
  for (const std::string body :
       {"{\"name\": \"f\", \"arguments\": {\"a\": 1,}}",
        "{\"name\": \"f\", \"arguments\": {'a': 1}}",
        "{\"name\": \"f\", \"arguments\": {\"a\": 1}}}", "{\"name\": \"f\", \"arguments\": [1]}",
        "{\"name\": \"f\", \"name\": \"g\"}", "{\"name\": 7}", "{\"arguments\": {}}", "hello", "",
        "{\"name\": \"f\", \"arguments\": \"not json\"}", "{\"name\": \"\"}",
        "{\"name\": \"f\", \"arguments\": {\"a\": \"line\nbreak\"}}"}) {
    const std::string text = "Hm. <tool_call>" + body + "</tool_call> So.";
    SCOPED_TRACE(text);
    const auto message = parse_every_way(format_named("hermes"), text);
    EXPECT_EQ(message.content, "Hm.  So.");
    ASSERT_EQ(message.tool_calls.size(), 1u);
    EXPECT_EQ(message.tool_calls[0].state, CallState::kBroken);
    EXPECT_EQ(message.tool_calls[0].raw, "<tool_call>" + body + "</tool_call>");
  }
}

TEST(ReplyParser, ABrokenCallDoesNotTakeTheNextOneDown) {
  EXPECT_EQ(said("hermes", "<tool_call>{bad}</tool_call><tool_call>{\"name\": \"g\"}</tool_call>"),
            "content: \nbroken:  raw <tool_call>{bad}</tool_call>\ncomplete: g{}\n");
  EXPECT_EQ(said("mistral", "[TOOL_CALLS]f[ARGS]{bad}[TOOL_CALLS]g[ARGS]{}"),
            "content: \nbroken: f{ raw [TOOL_CALLS]f[ARGS]{bad}\ncomplete: g{}\n");
  EXPECT_EQ(
      said("kimi_k2",
           "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0"
           "<|tool_call_argument_begin|>{bad}<|tool_call_end|><|tool_call_begin|>functions.g:1"
           "<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>"),
      "content: \nbroken: f{ id functions.f:0 raw <|tool_calls_section_begin|>"
      "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{bad}<|tool_call_end|>\n"
      "complete: g{} id functions.g:1\n");
}

TEST(ReplyParser, DeepNestingIsBrokenNotEndless) {
  const std::string text =
      "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": " + std::string(100000, '[') +
      "</tool_call>";
  const auto message = parse_reply(format_named("hermes"), text);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->tool_calls[0].state, CallState::kBroken);
}

TEST(ReplyParser, AReplyOverTheLimitIsAnError) {
  ReplyParser parser(format_named("hermes"), {.max_bytes = 10});
  EXPECT_TRUE(parser.push("12345"));
  const auto result = parser.push("678901");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("limit of 10 bytes"));
  EXPECT_FALSE(parse_reply(format_named("plain"), "123", {.max_bytes = 2}));
}

// A marker a byte, a long text byte by byte: linear, or this test would take minutes.
TEST(ReplyParser, LongRepliesTakeLinearTime) {
  for (const std::string unit : {"<", " ", "a", "\n<tool_call>"}) {
    for (const char* name : {"hermes", "llama3", "lfm2", "harmony", "gemma4"}) {
      ReplyParser parser(format_named(name));
      for (int i = 0; i < 100000; ++i) ASSERT_TRUE(parser.push(unit));
      parser.finish(ReplyEnd::kCutOff);
    }
  }
  ReplyParser list(format_named("lfm2"));
  ASSERT_TRUE(list.push("<|tool_call_start|>["));
  for (int i = 0; i < 100000; ++i) ASSERT_TRUE(list.push(" "));
  ASSERT_TRUE(list.push("f(a='"));
  for (int i = 0; i < 100000; ++i) ASSERT_TRUE(list.push("x"));
}

}  // namespace
}  // namespace tandem
