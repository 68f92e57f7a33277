#include "synth/vocabulary.h"

#include <fmt/format.h>

namespace tandem {
namespace {

constexpr int32_t kUnusedToken = 5;  // GGUF's token type
constexpr int32_t kNormalToken = 1;

}  // namespace

Result<void> copy_vocabulary(const Metadata& from, uint32_t n_tokens, Metadata& to) {
  for (const auto& [key, value] : from.entries()) {
    if (key.starts_with("tokenizer.")) to.set(key, value);
  }
  TANDEM_TRY(std::vector<std::string> tokens, from.strings("tokenizer.ggml.tokens"));
  if (tokens.size() > n_tokens) {
    return failure(ErrorCode::kInvalidArgument,
                   "{}: the tokenizer has {} tokens, the shape's vocabulary only {}", from.source(),
                   tokens.size(), n_tokens);
  }
  std::vector<int32_t> types(tokens.size(), kNormalToken);
  if (from.contains("tokenizer.ggml.token_type")) {
    TANDEM_TRY(types, from.integers("tokenizer.ggml.token_type"));
  }
  types.resize(n_tokens, kUnusedToken);
  for (size_t i = tokens.size(); i < n_tokens; ++i) tokens.push_back(fmt::format("[PAD{}]", i));
  if (from.contains("tokenizer.ggml.scores")) {
    TANDEM_TRY(std::vector<float> scores, from.floats("tokenizer.ggml.scores"));
    scores.resize(n_tokens, -1000.0f);
    to.set("tokenizer.ggml.scores", std::move(scores));
  }
  to.set("tokenizer.ggml.tokens", std::move(tokens));
  to.set("tokenizer.ggml.token_type", std::move(types));
  return {};
}

}  // namespace tandem
