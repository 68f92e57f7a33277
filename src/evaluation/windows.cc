// Cutting a text into the windows whose tokens are scored.

#include "evaluation/windows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"

namespace tandem {
namespace {

Result<void> validate(const WindowOptions& options, bool has_bos) {
  const uint32_t room = options.window - (has_bos ? 1 : 0);
  if (options.window < 2) {
    return failure(ErrorCode::kInvalidArgument, "a window of {} tokens, must be 2 or more",
                   options.window);
  }
  const bool slides = options.mode == WindowMode::kSliding;
  if (slides && (options.stride == 0 || options.stride > room)) {
    return failure(ErrorCode::kInvalidArgument,
                   "a stride of {} tokens, must be between 1 and the window's {}{}", options.stride,
                   room, has_bos ? " besides BOS" : "");
  }
  return {};
}

/// text[begin, end) behind BOS, with the tokens from `first_scored` on to be scored.
Window window_of(const std::vector<TokenId>& text, std::optional<TokenId> bos, size_t begin,
                 size_t end, size_t first_scored) {
  Window window{{}, 0, 0};
  if (bos) window.tokens.push_back(*bos);
  window.tokens.insert(window.tokens.end(), text.begin() + begin, text.begin() + end);
  // The first token of all has nothing before it to be predicted from.
  window.n_context = std::max<size_t>(first_scored - begin + (bos ? 1 : 0), 1);
  window.text_position = begin + window.n_context - (bos ? 1 : 0);
  return window;
}

std::vector<Window> sliding(const std::vector<TokenId>& text, std::optional<TokenId> bos,
                            size_t size, size_t stride) {
  std::vector<Window> windows;
  const size_t room = size - (bos ? 1 : 0);
  size_t scored_to = 0;
  for (size_t begin = 0; scored_to < text.size(); begin += stride) {
    const size_t end = std::min(begin + room, text.size());
    Window window = window_of(text, bos, begin, end, scored_to);
    if (window.n_scored() > 0) windows.push_back(std::move(window));
    scored_to = end;
  }
  return windows;
}

/// As llama-perplexity: whole chunks only; BOS replaces the first token of each; of a chunk of n
/// tokens those after number n / 2 are scored. Its text begins with BOS when the model wants one.
std::vector<Window> as_llama_cpp(const std::vector<TokenId>& text, std::optional<TokenId> bos,
                                 size_t size) {
  std::vector<TokenId> tokens;
  if (bos) tokens.push_back(*bos);
  tokens.insert(tokens.end(), text.begin(), text.end());
  std::vector<Window> windows;
  if (tokens.size() < 2 * size) return windows;
  const size_t n_context = size / 2 + 1;
  for (size_t begin = 0; begin + size <= tokens.size(); begin += size) {
    Window window{{tokens.begin() + begin, tokens.begin() + begin + size}, n_context, 0};
    if (bos) window.tokens[0] = *bos;
    window.text_position = begin + n_context - (bos ? 1 : 0);
    if (window.n_scored() > 0) windows.push_back(std::move(window));
  }
  return windows;
}

}  // namespace

const char* to_string(WindowMode mode) {
  switch (mode) {
    case WindowMode::kSliding:
      return "sliding";
    case WindowMode::kChunked:
      return "chunked";
    case WindowMode::kLlamaCpp:
      return "llama.cpp";
  }
  return "";
}

std::optional<WindowMode> window_mode_from_name(const std::string& name) {
  for (const auto mode : {WindowMode::kSliding, WindowMode::kChunked, WindowMode::kLlamaCpp}) {
    if (name == to_string(mode)) return mode;
  }
  return std::nullopt;
}

Result<std::vector<Window>> make_windows(const std::vector<TokenId>& text,
                                         std::optional<TokenId> bos, const WindowOptions& options) {
  TANDEM_TRY(validate(options, bos.has_value()));
  std::vector<Window> windows;
  if (options.mode == WindowMode::kLlamaCpp) {
    windows = as_llama_cpp(text, bos, options.window);
    if (windows.empty()) {
      return failure(ErrorCode::kInvalidArgument,
                     "the text has {} tokens; llama.cpp's definition needs two windows of {}, at "
                     "least 4 tokens each",
                     text.size() + (bos ? 1 : 0), options.window);
    }
  } else {
    const size_t room = options.window - (bos ? 1 : 0);
    const size_t stride = options.mode == WindowMode::kChunked ? room : options.stride;
    windows = sliding(text, bos, options.window, stride);
    if (windows.empty()) {
      return failure(ErrorCode::kInvalidArgument, "the text has {} tokens, too few to score any",
                     text.size());
    }
  }
  if (options.max_windows != 0 && windows.size() > options.max_windows) {
    windows.resize(options.max_windows);
  }
  return windows;
}

std::string describe(const WindowOptions& options, bool has_bos) {
  switch (options.mode) {
    case WindowMode::kSliding:
      return fmt::format(
          "exp of the mean negative log likelihood of every token{}, each given at least {} tokens "
          "before it where the text has them (windows of {}, stride {}{})",
          has_bos ? "" : " but the first", options.window - options.stride - (has_bos ? 1 : 0),
          options.window, options.stride, has_bos ? ", each behind BOS" : "");
    case WindowMode::kChunked:
      return fmt::format(
          "exp of the mean negative log likelihood of the tokens of disjoint chunks of {}{}",
          options.window, has_bos ? ", each behind BOS" : ", the first of each chunk not counted");
    case WindowMode::kLlamaCpp:
      return fmt::format(
          "as llama.cpp's llama-perplexity: exp of the mean negative log likelihood of the last {} "
          "tokens of each whole chunk of {}{}",
          options.window - options.window / 2 - 1, options.window,
          has_bos ? ", whose first token is replaced by BOS" : "");
  }
  return "";
}

uint64_t windows_hash(const std::vector<Window>& windows) {
  uint64_t hash = windows.size();
  for (const Window& window : windows) {
    const uint64_t sizes[] = {window.tokens.size(), window.n_context};
    hash = content_hash(std::as_bytes(std::span(sizes)), hash);
    hash = content_hash(std::as_bytes(std::span(window.tokens)), hash);
  }
  return hash;
}

}  // namespace tandem
