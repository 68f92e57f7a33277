#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/session.h"

namespace tandem {

/// Decodes one token of each of several sessions in a single step, so that the weights are read
/// once for all of them. Keeps its working memory between steps; one thread's.
class DecodeBatch {
 public:
  explicit DecodeBatch(std::shared_ptr<Engine> engine);

  /// Appends tokens[i] to sessions[i]; every session must belong to the engine and appear once. At
  /// most the engine's max_sequences, all at the same planes (else kInvalidArgument). Each session
  /// ends as append would leave it, to the bit. Errors as Session::append's; no session has changed
  /// after one.
  Result<void> step(std::span<Session* const> sessions, std::span<const TokenId> tokens);

 private:
  std::shared_ptr<Engine> engine_;
  std::vector<SequenceRows> rows_;
  std::vector<uint32_t> outputs_;
  std::vector<float> logits_;  ///< (max_sequences, vocabulary)
};

}  // namespace tandem
