#pragma once

#include <span>

#include "base/result.h"
#include "base/token_id.h"

namespace tandem {

/// What a reply must look like (a grammar, a JSON schema, a set of scripts), as seen by the
/// sampler: which tokens may come next, told one chosen token at a time.
///
/// Used by one session's thread. An implementation must not allocate in steady state and must not
/// throw; whatever it needs for a vocabulary it prepares when it is created.
class Constraint {
 public:
  virtual ~Constraint() = default;

  /// Sets the logit of every token that may not come next to minus infinity and leaves the others
  /// as they are. `logits` has one entry a token of the vocabulary. A complete constraint leaves
  /// only end-of-generation tokens. Errors: whatever the grammar finds, naming the rule.
  virtual Result<void> mask(std::span<float> logits) = 0;

  /// Moves on by a token of the reply. Errors: kInvalidArgument when `token` is not allowed here;
  /// the state is then unchanged.
  virtual Result<void> accept(TokenId token) = 0;

  /// True when the reply so far satisfies the constraint and may end here.
  virtual bool is_complete() const = 0;

  /// Back to the state before the first token of a reply.
  virtual void reset() = 0;
};

}  // namespace tandem
