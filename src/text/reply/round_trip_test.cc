// What the chat templates of real models print for an assistant's message comes back as that
// message. Expected values, from the templates themselves:
//   /usr/bin/python3 src/text/reply/testdata/make_round_trips.py TEMPLATES
//     models/demo/chat_template.jinja > src/text/reply/testdata/round_trips.json

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "text/reply/reply_testing.h"

namespace tandem {
namespace {

using Json = nlohmann::json;

/// The format of each template.
const std::map<std::string, std::string>& formats() {
  static const std::map<std::string, std::string> map{
      {"Apertus-8B-Instruct", "apertus"},
      {"Apriel-1.6-15b-Thinker-fixed", "apriel"},
      {"ByteDance-Seed-OSS", "seed_oss"},
      {"Cohere2MoE", "cohere"},
      {"CohereForAI-c4ai-command-r-plus-tool_use", "command_r"},
      {"CohereForAI-c4ai-command-r7b-12-2024-tool_use", "cohere"},
      {"GLM-4.7-Flash", "glm"},
      {"GigaChat3-10B-A1.8B", "gigachat3"},
      {"GigaChat3.1-10B-A1.8B", "gigachat"},
      {"HuggingFaceTB-SmolLM3-3B", "smollm3"},
      {"Kimi-K2-Instruct", "kimi_k2"},
      {"Kimi-K2-Thinking", "kimi_k2"},
      {"Kimi-K3", "kimi_k3"},
      {"LFM2-8B-A1B", "lfm2"},
      {"LFM2.5-8B-A1B", "lfm2"},
      {"MiMo-VL", "hermes"},
      {"MiniMax-M1", "tool_calls"},
      {"Mistral-Small-3.2-24B-Instruct-2506", "mistral"},
      {"NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "qwen3_coder"},
      {"NVIDIA-Nemotron-Nano-v2", "nemotron"},
      {"NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use", "hermes"},
      {"Qwen-QwQ-32B", "hermes"},
      {"Qwen-Qwen2.5-7B-Instruct", "hermes"},
      {"Qwen-Qwen3-0.6B", "hermes"},
      {"Qwen3-Coder", "qwen3_coder"},
      {"Reka-Edge", "hermes"},
      {"StepFun3.5-Flash", "qwen3_coder"},
      {"deepseek-ai-DeepSeek-R1-Distill-Llama-8B", "deepseek"},
      {"demo", "hermes"},
      {"deepseek-ai-DeepSeek-R1-Distill-Qwen-32B", "deepseek"},
      {"deepseek-ai-DeepSeek-V3.2", "deepseek_dsml"},
      {"deepseek-ai-DeepSeek-V4", "deepseek_dsml"},
      {"deepseek-ai-DeepSeek-V4-Flash-0731", "deepseek_dsml"},
      {"fireworks-ai-llama-3-firefunction-v2", "firefunction"},
      {"google-gemma-2-2b-it", "gemma"},
      {"google-gemma-4-31B-it-interleaved", "gemma4"},
      {"ibm-granite-granite-3.3-2B-Instruct", "granite3"},
      {"ibm-granite-granite-4.0", "hermes"},
      {"llama-cpp-deepseek-r1", "deepseek"},
      {"llama-cpp-rwkv-world", "plain"},
      {"meetkai-functionary-medium-v3.2", "functionary"},
      {"meta-llama-Llama-3.1-8B-Instruct", "llama3"},
      {"meta-llama-Llama-3.2-3B-Instruct", "llama3"},
      {"meta-llama-Llama-3.3-70B-Instruct", "llama3"},
      {"mistralai-Ministral-3-14B-Reasoning-2512", "mistral"},
      {"moonshotai-Kimi-K2", "kimi_k2"},
      {"muse-glimmer", "muse"},
      {"openai-gpt-oss-120b", "harmony"},
      {"poolside-Laguna-S-2.1", "glm"},
      {"poolside-Laguna-XS-2.1", "glm"},
      {"poolside-Laguna-XS.2", "glm"},
      {"tencent-Hy3", "hunyuan"},
      {"unsloth-Apriel-1.5", "apriel"},
      {"unsloth-mistral-Devstral-Small-2507", "mistral"},
  };
  return map;
}

// The values that a format without quotes cannot tell apart need the schemas, as in a real request.
constexpr const char* kTools = R"([
  {"function": {"name": "get_weather", "parameters": {"properties": {"city": {"type": "string"},
    "days": {"type": "integer"}, "options": {"type": "object"}}}}},
  {"function": {"name": "find_place", "parameters": {"properties": {"city": {"type": "string"}}}}},
  {"function": {"name": "stop", "parameters": {"properties": {}}}}])";

const Json& reference() {
  static const Json json =
      Json::parse(std::ifstream(TANDEM_SOURCE_DIR "/src/text/reply/testdata/round_trips.json"));
  return json;
}

Json calls_of(const ReplyMessage& message) {
  Json calls = Json::array();
  for (const ToolCall& call : message.tool_calls) {
    EXPECT_EQ(call.state, CallState::kComplete) << call.raw;
    calls.push_back(
        {{"name", call.name}, {"arguments", Json::parse(call.arguments, nullptr, false)}});
  }
  return calls;
}

class RoundTrip : public testing::TestWithParam<std::string> {};

TEST_P(RoundTrip, MessagesComeBack) {
  const ReplyFormat format = format_named(formats().at(GetParam()));
  ReplyOptions options{.tools = *ToolTypes::parse(kTools)};
  int n_cases = 0;
  for (const Json& example : reference().at("cases")) {
    if (example.at("template") != GetParam()) continue;
    const std::string text = example.at("text");
    SCOPED_TRACE(text);
    options.starts_in_reasoning =
        prompt_opens_reasoning(format, example.at("prompt").get<std::string>());
    const ReplyMessage message = parse_every_way(format, text, options);
    EXPECT_EQ(message.content, example.at("content"));
    EXPECT_EQ(message.reasoning, example.at("reasoning"));
    EXPECT_EQ(calls_of(message), example.at("calls"));
    ++n_cases;
  }
  EXPECT_GT(n_cases, 0);
}

// The excerpts hold every marker of a template, in its order.
TEST_P(RoundTrip, TheFormatIsFoundInTheTemplate) {
  for (const Json& row : reference().at("templates")) {
    if (row.at("name") != GetParam()) continue;
    const std::string excerpt = row.at("excerpt");
    EXPECT_EQ(detect_reply_format(excerpt).name, formats().at(GetParam())) << excerpt;
    return;
  }
  FAIL() << "no excerpt";
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& [name, format] : formats()) names.push_back(name);
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(, RoundTrip, testing::ValuesIn(names()), test_name);

}  // namespace
}  // namespace tandem
