#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"
#include "engine/session.h"

namespace tandem {

/// Where the logits of a text's windows come from. One thread's.
class LogitsSource {
 public:
  virtual ~LogitsSource() = default;

  /// Starts a window with an empty cache: `context` are its first tokens (at least one), whose
  /// logits nobody wants but those of the last.
  virtual Result<void> begin(std::span<const TokenId> context) = 0;

  /// Writes the logits that predict each of `targets`, the next tokens of the window:
  /// (targets, vocabulary). The targets then count as seen.
  virtual Result<void> predict(std::span<const TokenId> targets, float* logits) = 0;
};

/// A model that computes them. NaN or infinity anywhere in the model ends it with an error that
/// names the node and the position, when the engine was made with check_finite.
class SessionSource : public LogitsSource {
 public:
  static Result<std::unique_ptr<SessionSource>> create(std::shared_ptr<Engine> engine);

  Result<void> begin(std::span<const TokenId> context) override;
  Result<void> predict(std::span<const TokenId> targets, float* logits) override;

 private:
  explicit SessionSource(std::unique_ptr<Session> session) : session_(std::move(session)) {}

  std::unique_ptr<Session> session_;
  TokenId last_ = -1;  ///< the token before the next target; not computed yet
};

}  // namespace tandem
