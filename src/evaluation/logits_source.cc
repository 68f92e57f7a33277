// Logits of a text as a session computes them.

#include "evaluation/logits_source.h"

#include <algorithm>

namespace tandem {

Result<std::unique_ptr<SessionSource>> SessionSource::create(std::shared_ptr<Engine> engine) {
  TANDEM_TRY(auto session, Session::create(std::move(engine)));
  return std::unique_ptr<SessionSource>(new SessionSource(std::move(session)));
}

Result<void> SessionSource::begin(std::span<const TokenId> context) {
  session_->truncate(0);
  last_ = context.back();
  const auto before = context.first(context.size() - 1);
  return before.empty() ? Result<void>() : session_->append(before);
}

Result<void> SessionSource::predict(std::span<const TokenId> targets, float* logits) {
  // The logits that predict a target are those of the token before it.
  std::vector<TokenId> tokens{last_};
  tokens.insert(tokens.end(), targets.begin(), targets.end() - 1);
  last_ = targets.back();
  return session_->append_visiting_logits(
      tokens, [logits](size_t index, std::span<const float> row) -> Result<void> {
        std::copy(row.begin(), row.end(), logits + index * row.size());
        return {};
      });
}

}  // namespace tandem
