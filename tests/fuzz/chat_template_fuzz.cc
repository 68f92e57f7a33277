// The input is a chat template, rendered for fixed conversations. Nothing it holds may crash, hang,
// or use more than the limits.

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "text/chat_template/chat_template.h"

namespace {

std::vector<nlohmann::ordered_json> make_conversations() {
  return {
      nlohmann::ordered_json::parse(R"({"messages": [{"role": "user", "content": "안녕 <b>"}],
        "add_generation_prompt": true, "bos_token": "<s>", "eos_token": "</s>", "x": [3, 1, 2.5],
        "strftime_now": "now"})"),
      nlohmann::ordered_json::parse(R"({"messages": [{"role": "system", "content": ""},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function",
        "function": {"name": "f", "arguments": {"a": 1e300, "b": [[], {}], "c": "🙂"}}}]}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object",
        "properties": {"a": {"type": "number"}}}}}], "strftime_now": "now", "x": {"k": "v"}})"),
  };
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto kConversations = make_conversations();
  // Small enough that one input takes milliseconds, large enough that every path can be taken.
  constexpr tandem::ChatTemplateLimits kLimits = {.max_steps = 100'000,
                                                  .max_output_bytes = size_t{1} << 20,
                                                  .max_memory_bytes = size_t{16} << 20};
  const auto parsed =
      tandem::ChatTemplate::parse(std::string(reinterpret_cast<const char*>(data), size));
  if (!parsed) return 0;
  for (const auto& conversation : kConversations) {
    const auto text = parsed->render(conversation, kLimits);
    if (text && text->size() > kLimits.max_output_bytes) __builtin_trap();
  }
  return 0;
}
