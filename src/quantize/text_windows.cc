#include "quantize/text_windows.h"

#include <algorithm>

namespace tandem {
namespace {

constexpr std::string_view kSeparator = "\n\x1e\n";
constexpr size_t kMinTokens = 16;

}  // namespace

Result<std::vector<std::vector<TokenId>>> cut_into_windows(const Model& model,
                                                           const std::string& text, uint32_t window,
                                                           uint32_t max_tokens) {
  if (model.tokenizer() == nullptr) {
    return failure(ErrorCode::kInvalidArgument, "{}: calibration needs a tokenizer, it has none",
                   model.metadata().source());
  }
  const uint32_t trained = model.hyperparameters().context_length;
  if (trained != 0) window = std::min(window, trained);
  std::vector<std::vector<TokenId>> out;
  size_t n_left = max_tokens;
  for (size_t begin = 0; begin < text.size() && n_left > 1;) {
    const size_t end = std::min(text.find(kSeparator, begin), text.size());
    const std::string_view document(text.data() + begin, end - begin);
    TANDEM_TRY(const auto tokens, model.tokenizer()->encode(document, {.parse_special = true}));
    for (size_t at = 0; at < tokens.size() && n_left > 1;) {
      const size_t n = std::min({size_t{window}, tokens.size() - at, n_left});
      out.emplace_back(tokens.begin() + at, tokens.begin() + at + n);
      at += n;
      n_left -= n;
    }
    begin = end + kSeparator.size();
  }
  const size_t n_tokens = max_tokens - n_left;
  if (n_tokens >= kMinTokens) return out;
  return failure(ErrorCode::kInvalidArgument,
                 "the calibration text has {} tokens, must have at least {}", n_tokens, kMinTokens);
}

}  // namespace tandem
