// Choosing a format: by name, or by the markers in a chat template.

#include "text/reply/reply_format.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/check.h"
#include "text/reply/marker.h"

namespace tandem {
namespace {

/// A template with both words is written for models of that format.
struct Sign {
  std::string_view format;
  std::string_view word;
  std::string_view also = {};
};

// The first row that fits wins, so the particular comes before the general: many templates mention
// <tool_call> beside markers of their own.
constexpr std::array kSigns = {
    Sign{"plain", "]<]minimax[>["},  // prints no nulls and no empty objects: cannot be read back
    Sign{"harmony", "<|channel|>", "<|message|>"},
    Sign{"muse", "atem:"},
    Sign{"function_gemma", "<start_function_call>"},
    Sign{"gemma4", "<|tool_call>", "call:"},
    Sign{"deepseek_dsml", "｜DSML｜"},
    Sign{"deepseek", "<｜tool▁calls▁begin｜>"},
    Sign{"deepseek", "<｜Assistant｜>"},
    Sign{"kimi_k2", "<|tool_calls_section_begin|>"},
    Sign{"kimi_k3", "<|open|>", "<|sep|>"},
    Sign{"mistral", "[TOOL_CALLS]"},
    Sign{"mistral", "[INST]"},
    Sign{"cohere", "<|START_ACTION|>"},
    Sign{"command_r", "<|CHATBOT_TOKEN|>"},
    Sign{"apertus", "<|tools_prefix|>"},
    Sign{"nemotron", "<TOOLCALL>"},
    Sign{"seed_oss", "<seed:tool_call>"},
    Sign{"hunyuan", "<tool_sep", ":opensource"},
    Sign{"glm", "<arg_key>"},
    Sign{"qwen3_coder", "<function=", "<parameter="},
    Sign{"apriel", "<tool_calls>", "[BEGIN FINAL RESPONSE]"},
    Sign{"tool_calls", "<tool_calls>"},
    Sign{"gigachat", "<|function_call|>"},
    Sign{"gigachat3", "function call", "<|role_sep|>"},
    Sign{"lfm2", "<|tool_call_start|>"},
    Sign{"lfm2", "<|tool_list_start|>"},
    Sign{"smollm3", "SmolLM"},
    Sign{"hermes", "<tool_call>"},
    Sign{"phi", "<|tool|>"},
    Sign{"granite3", "<|tool_call|>"},
    Sign{"granite3", "<|start_of_role|>"},
    Sign{"functionary", ">>>"},
    Sign{"firefunction", "functools["},
    Sign{"phi", "functools"},
    Sign{"llama3", "<|python_tag|>"},
    Sign{"llama3", "<|start_header_id|>"},
    Sign{"gemma", "<start_of_turn>"},
    Sign{"hermes", "<|im_start|>"},
};

bool contains(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

const ReplyFormat* find_format(std::string_view name) {
  const auto formats = reply_formats();
  const auto found = std::find_if(formats.begin(), formats.end(),
                                  [&](const ReplyFormat& f) { return f.name == name; });
  return found == formats.end() ? nullptr : &*found;
}

}  // namespace

Result<ReplyFormat> find_reply_format(std::string_view name) {
  if (const ReplyFormat* found = find_format(name)) return *found;
  std::string known;
  for (const ReplyFormat& format : reply_formats()) {
    if (!known.empty()) known += ", ";
    known += format.name;
  }
  return failure(ErrorCode::kNotFound, "there is no reply format '{}'; known are: {}", name, known);
}

ReplyFormat detect_reply_format(std::string_view template_source) {
  std::string_view name = "plain";
  for (const Sign& sign : kSigns) {
    if (!contains(template_source, sign.word)) continue;
    if (!sign.also.empty() && !contains(template_source, sign.also)) continue;
    name = sign.format;
    break;
  }
  const ReplyFormat* format = find_format(name);
  TANDEM_CHECK(format != nullptr);
  return *format;
}

bool prompt_opens_reasoning(const ReplyFormat& format, std::string_view prompt) {
  return !format.reasoning_begin.empty() && trim(prompt).ends_with(trim(format.reasoning_begin));
}

std::vector<std::string_view> reply_markers(const ReplyFormat& format) {
  std::vector<std::string_view> markers{format.reasoning_begin, format.reasoning_end,
                                        format.header_end};
  const auto add = [&](const std::vector<std::string_view>& more) {
    markers.insert(markers.end(), more.begin(), more.end());
  };
  add(format.ignored);
  add(format.header_begins);
  add(format.message_ends);
  for (const CallRegion& region : format.regions) {
    const CallWords& w = region.words;
    add({region.begin, region.end, w.call_begin, w.call_end, w.param_begin, w.param_name_end,
         w.value_begin, w.param_end, w.attributes_end});
    add(w.name_ends);
  }
  std::sort(markers.begin(), markers.end());
  markers.erase(std::unique(markers.begin(), markers.end()), markers.end());
  std::erase(markers, "");
  return markers;
}

}  // namespace tandem
