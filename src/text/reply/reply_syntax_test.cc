// How each family of models writes calls, beyond what their templates show (round_trip_test.cc):
// documented variants and what models get wrong.

#include <gtest/gtest.h>

#include "text/reply/reply_testing.h"

namespace tandem {
namespace {

TEST(ReplySyntax, HermesKeysInAnyOrderAndWrapped) {
  const std::string expected = "content: \ncomplete: f{\"a\": 1}\n";
  for (const char* body :
       {R"({"name": "f", "arguments": {"a": 1}})", R"({"arguments": {"a": 1}, "name": "f"})",
        R"({"name":"f","parameters":{"a": 1}})", R"({"name": "f", "arguments": "{\"a\": 1}"})",
        R"({"type": "function", "function": {"name": "f", "arguments": {"a": 1}}})",
        R"({"type": "function", "function": "f", "parameters": {"a": 1}})",
        R"([{"name": "f", "arguments": {"a": 1}}])",
        R"({"name": "f", "why": [1], "args": {"a": 1}})", "<function=f>{\"a\": 1}</function>"}) {
    EXPECT_EQ(said("hermes", "<tool_call>\n" + std::string(body) + "\n</tool_call>"), expected);
  }
}

TEST(ReplySyntax, HermesWithoutArgumentsOrEndMarker) {
  EXPECT_EQ(said("hermes", "<tool_call>{\"name\": \"f\", \"arguments\": null}</tool_call>"),
            "content: \ncomplete: f{}\n");
  // The model stopped after a whole object.
  EXPECT_EQ(said("hermes", "<tool_call>{\"name\": \"f\"}\n"), "content: \ncomplete: f{}\n");
  EXPECT_EQ(said("hermes", "<tool_call>{\"name\": \"f\"}<tool_call>{\"name\": \"g\"}</tool_call>"),
            "content: \ncomplete: f{}\ncomplete: g{}\n");
}

TEST(ReplySyntax, IdsComeThroughEarlyOrLate) {
  EXPECT_EQ(said("mistral", R"([TOOL_CALLS][{"name": "f", "arguments": {}, "id": "abc123def"}])"),
            "content: \ncomplete: f{} id abc123def\n");
  EXPECT_EQ(said("cohere",
                 R"(<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {}}])"
                 "<|END_ACTION|>"),
            "content: \ncomplete: f{} id 0\n");
}

TEST(ReplySyntax, QwenCoderValues) {
  const auto call = [](const std::string& value) {
    return said("qwen3_coder", "<tool_call>\n<function=f>\n<parameter=a>" + value +
                                   "</parameter>\n</function>\n</tool_call>");
  };
  const auto expected = [](const std::string& json) {
    return "content: \ncomplete: f{\"a\": " + json + "}\n";
  };
  EXPECT_EQ(call("\n서울\n"), expected("\"서울\""));
  EXPECT_EQ(call("no line ends"), expected("\"no line ends\""));
  EXPECT_EQ(call("\n  if x < 1:\n    \"y\"\n\n"), expected(R"("  if x < 1:\n    \"y\"\n")"));
  EXPECT_EQ(call("\n-2.5\n"), expected("-2.5"));
  EXPECT_EQ(call("\ntrue\n"), expected("true"));
  EXPECT_EQ(call("\nTrue\n"), expected("true"));
  EXPECT_EQ(call("\n[1, {\"b\": null}]\n"), expected("[1, {\"b\": null}]"));
  EXPECT_EQ(call("\n{'b': None}\n"), expected("{\"b\": null}"));
  EXPECT_EQ(call("\n\"quoted\"\n"), expected(R"("\"quoted\"")"));
  EXPECT_EQ(call(""), expected("\"\""));
}

TEST(ReplySyntax, SchemasDecideWhatAValueIs) {
  const ReplyOptions options{
      .tools = *ToolTypes::parse(
          R"([{"name": "f", "parameters": {"properties": {"zip": {"type": "string"}}}}])")};
  const std::string text =
      "<tool_call><function=f><parameter=zip>34141</parameter><parameter=n>34141</parameter>"
      "</function></tool_call>";
  EXPECT_EQ(said("qwen3_coder", text, options),
            "content: \ncomplete: f{\"zip\": \"34141\", \"n\": 34141}\n");
}

TEST(ReplySyntax, QwenCoderSlips) {
  const std::string expected = "content: Now.\ncomplete: f{\"a\": 1}\n";
  // Without the outer tags, with only the closing one, with an end tag twice or one missing.
  for (const char* text :
       {"Now.\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>",
        "Now.\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
        "Now.\n<tool_call>\n<function=f><parameter=a>1</parameter>\n</parameter>\n</function>"
        "</tool_call>",
        "Now.\n<tool_call><function=f><parameter=a>1</parameter></tool_call>"}) {
    EXPECT_EQ(said("qwen3_coder", text), expected);
  }
}

TEST(ReplySyntax, LlamaJsonFromTheFirstCharacter) {
  EXPECT_EQ(said("llama3", R"({"name": "f", "parameters": {"a": "{"}})"),
            "content: \ncomplete: f{\"a\": \"{\"}\n");
  EXPECT_EQ(said("llama3", "\n {\"type\": \"function\", \"name\": \"f\", \"parameters\": {}}"),
            "content: \ncomplete: f{}\n");
  EXPECT_EQ(said("llama3", R"({"name": "f", "parameters": {}}; {"name": "g", "parameters": {}})"),
            "content: \ncomplete: f{}\ncomplete: g{}\n");
}

TEST(ReplySyntax, JsonThatIsNoCallIsContent) {
  for (const std::string text :
       {R"({"answer": 42})", R"({"name": "Kim", "age": 7})", R"({"name": "Kim"})", "{", "[1] see",
        R"({"na)", "[]", "[1, 2]", "[f]", "[see (this)]", "{\"name\": 1}", "[f(x)]",
        R"([{"city": "서울"}])", "Then {\"name\": \"f\", \"parameters\": {}}"}) {
    EXPECT_EQ(said("llama3", text), "content: " + text + "\n");
  }
}

// Cut off where it could have been a call, with its name known: better incomplete than shown.
TEST(ReplySyntax, JsonThatMayHaveBecomeACallIsIncomplete) {
  EXPECT_EQ(said("llama3", R"({"name": "f", "par)", {}, ReplyEnd::kCutOff),
            "content: \nincomplete: f raw {\"name\": \"f\", \"par\n");
  EXPECT_EQ(said("llama3", "[f(a='x", {}, ReplyEnd::kCutOff),
            "content: \nincomplete: f raw [f(a='x\n");
  EXPECT_EQ(said("llama3", "[f(a=1), g", {}, ReplyEnd::kCutOff),
            "content: \ncomplete: f{\"a\": 1}\nincomplete:  raw , g\n");
  EXPECT_EQ(said("llama3", R"({"name": "f", "parameters": {}}; {"na)", {}, ReplyEnd::kCutOff),
            "content: \ncomplete: f{}\nincomplete:  raw ; {\"na\n");
}

TEST(ReplySyntax, KnownToolsDecideWhatIsACall) {
  const ReplyOptions options{.tools = *ToolTypes::parse(R"([{"name": "f"}])")};
  EXPECT_EQ(said("llama3", R"({"name": "f", "parameters": {}})", options),
            "content: \ncomplete: f{}\n");
  for (const std::string text : {R"({"name": "g", "parameters": {}})", "[g(a=1)]"}) {
    EXPECT_EQ(said("llama3", text, options), "content: " + text + "\n");
  }
  EXPECT_EQ(said("llama3", "[f(a=1)]", options), "content: \ncomplete: f{\"a\": 1}\n");
}

TEST(ReplySyntax, LlamaPythonic) {
  EXPECT_EQ(said("llama3", "[f(a=1), g(b=\"x, (y]\", c=['z'])]"),
            "content: \ncomplete: f{\"a\": 1}\ncomplete: g{\"b\": \"x, (y]\", \"c\": [\"z\"]}\n");
  EXPECT_EQ(said("llama3", "[날씨(도시='서울')]"),
            "content: \ncomplete: 날씨{\"도시\": \"서울\"}\n");
}

TEST(ReplySyntax, LlamaPythonTag) {
  EXPECT_EQ(said("llama3", "<|python_tag|>brave_search.call(query=\"서울 날씨\")"),
            "content: \ncomplete: brave_search{\"query\": \"서울 날씨\"}\n");
  EXPECT_EQ(said("llama3", "<|python_tag|>{\"name\": \"f\", \"parameters\": {\"a\": 1}}"),
            "content: \ncomplete: f{\"a\": 1}\n");
  EXPECT_EQ(said("llama3", "<|python_tag|>x = 1\nprint(x)"),
            "content: \ncomplete: python{\"code\": \"x = 1\\nprint(x)\"}\n");
  EXPECT_EQ(said("llama3", "<|python_tag|>x = 1\nprint(", {}, ReplyEnd::kCutOff),
            "content: \nincomplete: python{\"code\": \"x = 1\\nprint(\"} raw <|python_tag|>x = 1\n"
            "print(\n");
  EXPECT_EQ(said("llama3", "Hi <function=f>{\"a\": 1}</function>"),
            "content: Hi\ncomplete: f{\"a\": 1}\n");
}

TEST(ReplySyntax, MistralForms) {
  const std::string expected = "content: Hm.\ncomplete: f{\"a\": 1}\ncomplete: g{}\n";
  for (const char* calls :
       {R"([TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}])",
        R"([TOOL_CALLS] [{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}])",
        R"([TOOL_CALLS]f[ARGS]{"a": 1}[TOOL_CALLS]g[ARGS]{})",
        R"([TOOL_CALLS]f{"a": 1}[TOOL_CALLS]g{})",
        R"([TOOL_CALLS]f[ARGS]"{\"a\": 1}"[TOOL_CALLS]g[ARGS]{})"}) {
    EXPECT_EQ(said("mistral", std::string("Hm.") + calls), expected) << calls;
  }
  EXPECT_EQ(said("mistral", "[THINK]Hm.[/THINK]Yes."), "content: Yes.\nreasoning: Hm.\n");
}

TEST(ReplySyntax, PhiAndGranite) {
  const std::string expected = "content: \ncomplete: f{\"a\": 1}\ncomplete: g{}\n";
  const std::string list =
      R"([{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}])";
  EXPECT_EQ(said("phi", "<|tool_call|>" + list + "<|/tool_call|>"), expected);
  EXPECT_EQ(said("phi", "functools" + list), expected);
  EXPECT_EQ(said("phi", "Use functools.cache here."), "content: Use functools.cache here.\n");
  EXPECT_EQ(said("granite3", "<|tool_call|>" + list), expected);
  EXPECT_EQ(said("granite3", "<|tool_call|> " + list + "\n"), expected);
  EXPECT_EQ(said("granite3", "<think>Hm.</think><response>Yes.</response>"),
            "content: Yes.\nreasoning: Hm.\n");
}

TEST(ReplySyntax, GemmaToolCode) {
  EXPECT_EQ(said("gemma", "```tool_code\nprint(f(a=1))\n```"),
            "content: \ncomplete: f{\"a\": 1}\n");
  EXPECT_EQ(said("gemma", "Sure.\n```tool_code\nf(a=1)\ng(b='x')\n```\nDone."),
            "content: Sure.\n\nDone.\ncomplete: f{\"a\": 1}\ncomplete: g{\"b\": \"x\"}\n");
  EXPECT_EQ(said("gemma", "```tool_code\nx = f(1)\n```"),
            "content: \ncomplete: python{\"code\": \"x = f(1)\"}\n");
  EXPECT_EQ(said("gemma", "```python\nf(a=1)\n```"), "content: ```python\nf(a=1)\n```\n");
}

TEST(ReplySyntax, GemmaNotation) {
  EXPECT_EQ(said("function_gemma",
                 "<start_function_call>call:f{city:<escape>서울<escape>,n:2}<end_function_call>"),
            "content: \ncomplete: f{\"city\": \"서울\", \"n\": 2}\n");
  EXPECT_EQ(
      said("gemma4",
           "<|tool_call>call:f{a:<|\"|>}<tool_call|>,{<|\"|>,b:[{<|\"|>c<|\"|>:true},None],d:word}"
           "<tool_call|>"),
      "content: \ncomplete: f{\"a\": \"}<tool_call|>,{\", \"b\": [{\"c\": true}, null], "
      "\"d\": \"word\"}\n");
  EXPECT_EQ(said("gemma4", "<|tool_call>call:f{}<tool_call|>"), "content: \ncomplete: f{}\n");
  EXPECT_EQ(said("gemma4", "<|tool_call>f(1)<tool_call|>"),
            "content: \nbroken:  raw <|tool_call>f(1)<tool_call|>\n");
  EXPECT_EQ(said("gemma4", "<|channel>thought\nHm.<channel|>Yes."),
            "content: Yes.\nreasoning: Hm.\n");
}

TEST(ReplySyntax, Harmony) {
  EXPECT_EQ(said("harmony",
                 "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final"
                 "<|message|>Yes."),
            "content: Yes.\nreasoning: Hm.\n");
  EXPECT_EQ(said("harmony",
                 "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary "
                 "to=functions.f <|constrain|>json<|message|>{\"a\": 1}<|call|>"),
            "content: \nreasoning: Hm.\ncomplete: f{\"a\": 1}\n");
  EXPECT_EQ(said("harmony", " to=functions.f<|channel|>commentary json<|message|>{}"),
            "content: \ncomplete: f{}\n");
  // A preamble for the user, then a built-in tool.
  EXPECT_EQ(
      said("harmony",
           "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>analysis "
           "to=python code<|message|>print(1)<|call|>"),
      "content: I look.\ncomplete: python{\"code\": \"print(1)\"}\n");
  EXPECT_EQ(said("harmony", "<|channel|>commentary to=functions.f<|message|>bad<|call|>"),
            "content: \nbroken: f raw bad\n");
  EXPECT_EQ(said("harmony", "no header at all"), "content: no header at all\n");
  EXPECT_EQ(said("harmony",
                 "<|channel|>final<|message|>A<|end|><|start|>assistant<|channel|>final"
                 "<|message|>B"),
            "content: A\nB\n");
}

TEST(ReplySyntax, Functionary) {
  EXPECT_EQ(said("functionary", "all\nHi.>>>f\n{\"a\": 1}>>>python\nprint(1)"),
            "content: Hi.\ncomplete: f{\"a\": 1}\ncomplete: python{\"code\": \"print(1)\"}\n");
  EXPECT_EQ(said("functionary", "Hello there.\nall"), "content: Hello there.\nall\n");
}

TEST(ReplySyntax, SmolLm3) {
  EXPECT_EQ(said("smollm3",
                 "<think>\nHm.\n</think>\n<tool_call>{\"name\": \"f\", \"arguments\": {}}"
                 "</tool_call>"),
            "content: \nreasoning: Hm.\ncomplete: f{}\n");
  EXPECT_EQ(said("smollm3", "<code>\nf(a=1)\n</code>"), "content: \ncomplete: f{\"a\": 1}\n");
  EXPECT_EQ(said("smollm3", "<code>\nfor i in range(3): f(i)\n</code>"),
            "content: \ncomplete: python{\"code\": \"for i in range(3): f(i)\"}\n");
}

TEST(ReplySyntax, Lfm2) {
  const std::string expected =
      "content: Look.\ncomplete: f{\"a\": 1}\ncomplete: g{\"b\": \"it's\"}\n";
  EXPECT_EQ(said("lfm2", "<|tool_call_start|>[f(a=1), g(b=\"it's\")]<|tool_call_end|>Look."),
            expected);
  EXPECT_EQ(said("lfm2", R"(<|tool_call_start|>[{"name": "f", "arguments": {"a": 1}},)"
                         R"({"name": "g", "arguments": {"b": "it's"}}]<|tool_call_end|>Look.)"),
            expected);
  EXPECT_EQ(said("lfm2", "<|tool_call_start|>[f(1)]<|tool_call_end|>"),
            "content: \nbroken: f raw <|tool_call_start|>[f(1)]<|tool_call_end|>\n");
}

TEST(ReplySyntax, DeepSeek) {
  EXPECT_EQ(said("deepseek", "<think>Hm.</think>Yes."), "content: Yes.\nreasoning: Hm.\n");
  EXPECT_EQ(said("deepseek",
                 "Hm.</think><｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\": 1}"
                 "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
                 {.starts_in_reasoning = true}),
            "content: \nreasoning: Hm.\ncomplete: f{\"a\": 1}\n");
}

}  // namespace
}  // namespace tandem
