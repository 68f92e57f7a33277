#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"

namespace tandem {

/// How a text is cut into the windows that a model sees (docs/evaluation.md).
enum class WindowMode : uint8_t {
  kSliding,   ///< windows start `stride` tokens apart; each scores the tokens not scored before
  kChunked,   ///< windows side by side; each scores all its tokens but one without context
  kLlamaCpp,  ///< as llama.cpp's llama-perplexity: side by side, the second half is scored
};
/// "sliding", "chunked", "llama.cpp".
const char* to_string(WindowMode mode);
std::optional<WindowMode> window_mode_from_name(const std::string& name);

struct WindowOptions {
  WindowMode mode = WindowMode::kSliding;
  uint32_t window = 1024;    ///< tokens a model sees at once, BOS included; at least 2
  uint32_t stride = 512;     ///< kSliding: at most `window` less BOS
  uint32_t max_windows = 0;  ///< 0: all
};

/// Tokens that are computed together from an empty cache. Those of `tokens` from `n_context` on are
/// the ones whose probability is taken, each predicted from all before it.
struct Window {
  std::vector<TokenId> tokens;
  size_t n_context;      ///< at least 1
  size_t text_position;  ///< index in the text of the first scored token, for messages

  size_t n_scored() const { return tokens.size() - n_context; }
};

/// Cuts a text's ids (without BOS) into windows. `bos` is put before each window, or with kLlamaCpp
/// takes the place of each window's first token, when the model wants one. Errors: kInvalidArgument
/// for sizes out of range or a text too short to score anything, naming both.
Result<std::vector<Window>> make_windows(const std::vector<TokenId>& text,
                                         std::optional<TokenId> bos, const WindowOptions& options);

/// One sentence that says what `options` measure, with the numbers.
std::string describe(const WindowOptions& options, bool has_bos);

/// Identity of the windows, for stored logits.
uint64_t windows_hash(const std::vector<Window>& windows);

}  // namespace tandem
