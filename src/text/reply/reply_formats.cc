// The table of formats: what each family of models writes, and how its template is told.

#include "text/reply/reply_format.h"

namespace tandem {
namespace {

// <function=name><parameter=key>value</parameter></function>, also with JSON in place of
// parameters.
CallWords function_words() {
  return {.call_begin = "<function=",
          .name_ends = {">"},
          .call_end = "</function>",
          .param_begin = "<parameter=",
          .param_name_end = ">",
          .param_end = "</parameter>"};
}

CallRegion bare_function() {
  return {.begin = "<function=", .syntax = CallSyntax::kTagged, .words = function_words()};
}

ReplyFormat hermes() {
  return {.name = "hermes",
          .regions = {{.begin = "<tool_call>",
                       .end = "</tool_call>",
                       .syntax = CallSyntax::kTagged,
                       .or_json = true,
                       .words = function_words()},
                      bare_function()},
          // Left over when a model forgets to open the block.
          .ignored = {"</tool_call>"}};
}

ReplyFormat renamed(ReplyFormat format, std::string_view name) {
  format.name = name;
  return format;
}

ReplyFormat seed_oss() {
  return {.name = "seed_oss",
          .regions = {{.begin = "<seed:tool_call>",
                       .end = "</seed:tool_call>",
                       .syntax = CallSyntax::kTagged,
                       .words = function_words()}},
          .reasoning_begin = "<seed:think>",
          .reasoning_end = "</seed:think>",
          .reasoning_anywhere = true};
}

ReplyFormat llama3() {
  return {.name = "llama3",
          .regions = {{.begin = "<|python_tag|>", .syntax = CallSyntax::kCode, .or_json = true},
                      bare_function()},
          .begins_with_json = true,
          .begins_with_python = true};
}

ReplyFormat mistral() {
  return {.name = "mistral",
          .regions = {{.begin = "[TOOL_CALLS]",
                       .syntax = CallSyntax::kNamedJson,
                       .or_json = true,
                       .words = {.name_ends = {"[CALL_ID]", "[ARGS]", "{"}}}},
          .reasoning_begin = "[THINK]",
          .reasoning_end = "[/THINK]",
          .reasoning_anywhere = true};
}

ReplyFormat json_after(std::string_view name, std::string_view begin, std::string_view end) {
  return {.name = name, .regions = {{.begin = begin, .end = end}}};
}

ReplyFormat granite3() {
  ReplyFormat format = json_after("granite3", "<|tool_call|>", "");
  format.ignored = {"<response>", "</response>"};
  return format;
}

ReplyFormat phi() {
  return {
      .name = "phi",
      .regions = {{.begin = "<|tool_call|>", .end = "<|/tool_call|>"}, {.begin = "functools["}}};
}

ReplyFormat smollm3() {
  ReplyFormat format = hermes();
  format.name = "smollm3";
  format.regions.push_back({.begin = "<code>", .end = "</code>", .syntax = CallSyntax::kCode});
  return format;
}

ReplyFormat lfm2() {
  return {.name = "lfm2",
          .regions = {{.begin = "<|tool_call_start|>",
                       .end = "<|tool_call_end|>",
                       .syntax = CallSyntax::kPython,
                       .or_json = true}}};
}

ReplyFormat gemma() {
  return {.name = "gemma",
          .regions = {{.begin = "```tool_code", .end = "```", .syntax = CallSyntax::kCode}}};
}

ReplyFormat gemma4() {
  return {.name = "gemma4",
          .regions = {{.begin = "<|tool_call>",
                       .end = "<tool_call|>",
                       .syntax = CallSyntax::kGemma,
                       .words = {.value_begin = "<|\"|>"}}},
          .reasoning_begin = "<|channel>thought\n",
          .reasoning_end = "<channel|>",
          .reasoning_anywhere = true};
}

ReplyFormat function_gemma() {
  return {.name = "function_gemma",
          .regions = {{.begin = "<start_function_call>",
                       .end = "<end_function_call>",
                       .syntax = CallSyntax::kGemma,
                       .words = {.value_begin = "<escape>"}}}};
}

ReplyFormat harmony() {
  return {.name = "harmony",
          .reasoning_begin = "",
          .reasoning_end = "",
          .header = HeaderKind::kChannel,
          .header_begins = {"<|start|>", "<|channel|>"},
          .header_end = "<|message|>",
          .message_ends = {"<|end|>", "<|call|>", "<|return|>"}};
}

ReplyFormat muse() {
  return {.name = "muse",
          .regions = {{.begin = "<atem:function_calls>",
                       .end = "</atem:function_calls>",
                       .syntax = CallSyntax::kTagged,
                       .words = {.call_begin = "<atem:invoke name=\"",
                                 .name_ends = {"\""},
                                 .attributes_end = ">",
                                 .call_end = "</atem:invoke>",
                                 .param_begin = "<atem:parameter name=\"",
                                 .param_name_end = "\"",
                                 .param_end = "</atem:parameter>"}}},
          .reasoning_begin = "",
          .reasoning_end = "",
          .header = HeaderKind::kChannel,
          .header_begins = {"<|start|>"},
          .header_end = "<|message|>",
          .message_ends = {"<|eom|>", "<|eot|>"}};
}

ReplyFormat functionary() {
  return {.name = "functionary",
          .header = HeaderKind::kRecipientLine,
          .header_begins = {">>>"},
          .header_end = "\n"};
}

ReplyFormat deepseek() {
  return {.name = "deepseek",
          .regions = {{.begin = "<｜tool▁calls▁begin｜>",
                       .end = "<｜tool▁calls▁end｜>",
                       .syntax = CallSyntax::kNamedJson,
                       .words = {.call_begin = "<｜tool▁call▁begin｜>",
                                 .name_ends = {"<｜tool▁sep｜>"},
                                 .call_end = "<｜tool▁call▁end｜>"}}}};
}

CallWords dsml_words() {
  return {.call_begin = "<｜DSML｜invoke name=\"",
          .name_ends = {"\""},
          .attributes_end = ">",
          .call_end = "</｜DSML｜invoke>",
          .param_begin = "<｜DSML｜parameter name=\"",
          .param_name_end = "\"",
          .param_end = "</｜DSML｜parameter>"};
}

ReplyFormat deepseek_dsml() {
  return {.name = "deepseek_dsml",
          .regions = {{.begin = "<｜DSML｜function_calls>",
                       .end = "</｜DSML｜function_calls>",
                       .syntax = CallSyntax::kTagged,
                       .words = dsml_words()},
                      {.begin = "<｜DSML｜tool_calls>",
                       .end = "</｜DSML｜tool_calls>",
                       .syntax = CallSyntax::kTagged,
                       .words = dsml_words()}}};
}

ReplyFormat kimi_k2() {
  return {.name = "kimi_k2",
          .regions = {{.begin = "<|tool_calls_section_begin|>",
                       .end = "<|tool_calls_section_end|>",
                       .syntax = CallSyntax::kNamedJson,
                       .words = {.call_begin = "<|tool_call_begin|>",
                                 .name_ends = {"<|tool_call_argument_begin|>"},
                                 .call_end = "<|tool_call_end|>"}}}};
}

ReplyFormat kimi_k3() {
  return {.name = "kimi_k3",
          .regions = {{.begin = "<|open|>tools<|sep|>",
                       .end = "<|close|>tools<|sep|>",
                       .syntax = CallSyntax::kTagged,
                       .words = {.call_begin = "<|open|>call tool=\"",
                                 .name_ends = {"\""},
                                 .attributes_end = "<|sep|>",
                                 .call_end = "<|close|>call<|sep|>",
                                 .param_begin = "<|open|>argument key=\"",
                                 .param_name_end = "\"",
                                 .param_end = "<|close|>argument<|sep|>"}}},
          .reasoning_begin = "<|open|>think<|sep|>",
          .reasoning_end = "<|close|>think<|sep|>",
          .ignored = {"<|open|>response<|sep|>", "<|close|>response<|sep|>",
                      "<|close|>message<|sep|>"}};
}

ReplyFormat glm() {
  return {.name = "glm",
          .regions = {{.begin = "<tool_call>",
                       .syntax = CallSyntax::kTagged,
                       .words = {.call_begin = "<tool_call>",
                                 .call_end = "</tool_call>",
                                 .param_begin = "<arg_key>",
                                 .param_name_end = "</arg_key>",
                                 .value_begin = "<arg_value>",
                                 .param_end = "</arg_value>"}}}};
}

ReplyFormat hunyuan() {
  return {.name = "hunyuan",
          .regions = {{.begin = "<tool_calls:opensource>",
                       .end = "</tool_calls:opensource>",
                       .syntax = CallSyntax::kTagged,
                       .words = {.call_begin = "<tool_call:opensource>",
                                 .name_ends = {"<tool_sep:opensource>"},
                                 .call_end = "</tool_call:opensource>",
                                 .param_begin = "<arg_key:opensource>",
                                 .param_name_end = "</arg_key:opensource>",
                                 .value_begin = "<arg_value:opensource>",
                                 .param_end = "</arg_value:opensource>"}}},
          .reasoning_begin = "<think:opensource>",
          .reasoning_end = "</think:opensource>"};
}

ReplyFormat cohere() {
  ReplyFormat format = json_after("cohere", "<|START_ACTION|>", "<|END_ACTION|>");
  format.reasoning_begin = "<|START_THINKING|>";
  format.reasoning_end = "<|END_THINKING|>";
  format.reasoning_anywhere = true;
  format.ignored = {"<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"};
  return format;
}

ReplyFormat apertus() {
  ReplyFormat format = json_after("apertus", "<|tools_prefix|>", "<|tools_suffix|>");
  format.regions[0].key_is_name = true;
  format.reasoning_begin = "<|inner_prefix|>";
  format.reasoning_end = "<|inner_suffix|>";
  format.reasoning_anywhere = true;
  return format;
}

ReplyFormat apriel() {
  ReplyFormat format = json_after("apriel", "<tool_calls>", "</tool_calls>");
  format.reasoning_begin = "Here are my reasoning steps:\n";
  format.reasoning_end = "[BEGIN FINAL RESPONSE]";
  format.ignored = {"[END FINAL RESPONSE]"};
  return format;
}

std::vector<ReplyFormat> make_formats() {
  return {
      hermes(),
      renamed(hermes(), "qwen3_coder"),
      seed_oss(),
      llama3(),
      mistral(),
      granite3(),
      phi(),
      smollm3(),
      lfm2(),
      gemma(),
      gemma4(),
      function_gemma(),
      harmony(),
      muse(),
      functionary(),
      json_after("firefunction", "functools[", ""),
      deepseek(),
      deepseek_dsml(),
      kimi_k2(),
      kimi_k3(),
      glm(),
      hunyuan(),
      cohere(),
      json_after("command_r", "Action:\n```json", "```"),
      apertus(),
      apriel(),
      json_after("tool_calls", "<tool_calls>", "</tool_calls>"),
      json_after("nemotron", "<TOOLCALL>", "</TOOLCALL>"),
      json_after("gigachat", "<|function_call|>", ""),
      json_after("gigachat3", "<|message_sep|>\n\nfunction call<|role_sep|>\n", ""),
      {.name = "plain"},
  };
}

}  // namespace

std::span<const ReplyFormat> reply_formats() {
  static const std::vector<ReplyFormat> formats = make_formats();
  return formats;
}

}  // namespace tandem
