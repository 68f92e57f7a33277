#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sampling/sampler.h"
#include "engine/session.h"

namespace tandem {

struct GenerationOptions {
  /// Most tokens to generate; -1: until the model ends or the context is full.
  int32_t max_tokens = -1;
  std::vector<std::string> stop = {};  ///< texts that end the reply; they are not part of it
  bool ignore_end = false;             ///< go on after the model's end tokens
  /// Drop older tokens when the context fills instead of stopping (Session::shift_context).
  bool shift_context = false;
  uint32_t shift_keep = 0;                  ///< tokens at the start that a shift never drops
  bool show_control = false;                ///< write control tokens as their text
  std::vector<TokenId> shown_control = {};  ///< control tokens written as text in any case
  bool hash_logits = false;                 ///< fill GenerationResult::logits_hash
};

enum class FinishReason : uint8_t {
  kStop,    ///< the model ended its turn, or a stop text matched
  kLength,  ///< max_tokens or the context was reached
  kCancelled,
};
/// As OpenAI's API spells it: "stop", "length", "cancelled".
const char* to_string(FinishReason reason);

struct GenerationResult {
  FinishReason finish_reason = FinishReason::kStop;
  std::string text;
  std::vector<TokenId> tokens;     ///< generated, the end token included
  uint32_t n_prompt = 0;           ///< tokens computed for the prompt
  double prompt_seconds = 0;       ///< computing the prompt until its logits, without warming up
  double first_token_seconds = 0;  ///< from the call to the first token
  double decode_seconds = 0;       ///< from the first token to the last
  double prompt_joules = 0;        ///< simulated devices only
  double decode_joules = 0;        ///< likewise, from the end of the prompt to the last token
  uint64_t logits_hash = 0;        ///< of the last logits, before sampling
};

/// What a caller may watch. All are optional.
struct GenerationObserver {
  Session::Progress on_prompt;
  /// A token and the text that may be shown now (possibly empty).
  std::function<void(const SampledToken& token, std::string_view text)> on_token;
  /// Text that was held back for a stop text which never came; once, after the last token, when
  /// there is any. The texts of on_token and this one join to GenerationResult::text.
  std::function<void(std::string_view text)> on_held_text;
};

/// Appends `prompt` to the session and generates a reply: sample, show, append, until an end. The
/// model must have a tokenizer. Errors: those of Session::append and Sampler::sample; tokens
/// generated before an error stay in the session. Session::cancel() ends it with kCancelled and
/// what was generated so far. Only tokens that the context has room for are generated: a full one
/// ends the reply with kLength.
Result<GenerationResult> generate(Session& session, Sampler& sampler,
                                  std::span<const TokenId> prompt, const GenerationOptions& options,
                                  const GenerationObserver& observer = {});

}  // namespace tandem
