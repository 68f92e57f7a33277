#include "text/tokenizer/end_markers.h"

#include <algorithm>

// The ends of a turn, known by their text because files rarely list them all.

namespace tandem {
namespace {

constexpr std::string_view kEndMarkers[] = {
    "<|eot_id|>",        // Llama 3
    "<|eom_id|>",        // Llama 3.1, before a tool's answer
    "<|im_end|>",        // ChatML: Qwen, SmolLM, LFM2, ...
    "<|end|>",           // Phi
    "<|return|>",        // gpt-oss
    "<|call|>",          // gpt-oss
    "<|flush|>",         // Solar Open
    "<|calls|>",         // Solar Open
    "<end_of_turn>",     // Gemma
    "<turn|>",           // Gemma 4
    "<|tool_response>",  // Gemma 4
    "<eos>",
    "<|endoftext|>",
    "<|end_of_text|>",  // Granite, Llama 3 base
    "</s>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<end_of_utterance>",     // SmolVLM
    "<|endofturn|>",          // HyperCLOVA X
    "[|endofturn|]",          // EXAONE
    "<｜end▁of▁sentence｜>",  // DeepSeek
    "[e~[",                   // MiniMax
};

}  // namespace

bool is_unmistakable_end_marker(std::string_view text) {
  const bool marked = text.starts_with("<|") || text.starts_with("<｜") || text == "<end_of_turn>";
  return marked &&
         std::find(std::begin(kEndMarkers), std::end(kEndMarkers), text) != std::end(kEndMarkers);
}

void collect_end_of_generation(Tokenizer::Impl& impl, const std::vector<TokenId>& extra) {
  auto& ids = impl.end_of_generation;
  const auto has = [&](std::string_view text) { return impl.added.find(text).has_value(); };
  // In these vocabularies the marker ends a message within a turn, or means nothing at all.
  const bool end_is_inner =
      (has("<|return|>") && has("<|call|>")) || (has("<|calls|>") && has("<|flush|>"));
  const bool closing_s_is_text = has("<|tool_response>");
  for (const std::string_view marker : kEndMarkers) {
    if ((marker == "<|end|>" && end_is_inner) || (marker == "</s>" && closing_s_is_text)) continue;
    if (const auto id = impl.added.find(marker)) ids.push_back(*id);
  }
  for (const auto& id : {impl.eos, impl.eot, impl.eom}) {
    if (id) ids.push_back(*id);
  }
  for (const TokenId id : extra) {
    if (impl.vocabulary.contains(id)) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

}  // namespace tandem
