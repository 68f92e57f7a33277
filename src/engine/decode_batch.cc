#include "engine/decode_batch.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace tandem {

DecodeBatch::DecodeBatch(std::shared_ptr<Engine> engine)
    : engine_(std::move(engine)),
      outputs_(engine_->options().max_sequences),
      logits_(outputs_.size() * engine_->vocabulary()) {
  rows_.reserve(outputs_.size());
  std::iota(outputs_.begin(), outputs_.end(), 0);
}

Result<void> DecodeBatch::step(std::span<Session* const> sessions,
                               std::span<const TokenId> tokens) {
  TANDEM_CHECK(sessions.size() == tokens.size());
  if (sessions.empty()) return {};
  if (sessions.size() > outputs_.size()) {
    return failure(ErrorCode::kInvalidArgument, "{} sequences in one step, the limit is {}",
                   sessions.size(), outputs_.size());
  }
  const WeightPlanes planes = sessions[0]->planes();
  const bool same =
      std::ranges::all_of(sessions, [&](Session* s) { return s->planes() == planes; });
  if (!same) {
    return failure(ErrorCode::kInvalidArgument,
                   "sequences of one step read different weight planes");
  }
  rows_.clear();
  for (uint32_t i = 0; i < sessions.size(); ++i) {
    TANDEM_CHECK(&sessions[i]->engine() == engine_.get());
    TANDEM_TRY(sessions[i]->check_room(tokens.subspan(i, 1)));
    rows_.push_back({i, 1, sessions[i]->n_tokens(), &sessions[i]->state_});
  }
  const auto outputs = std::span<const uint32_t>(outputs_).first(sessions.size());
  TANDEM_TRY(engine_->forward(tokens, rows_, outputs, logits_.data(), nullptr, planes));
  for (size_t i = 0; i < sessions.size(); ++i) {
    Session& session = *sessions[i];
    session.tokens_.push_back(tokens[i]);
    std::copy_n(logits_.begin() + i * engine_->vocabulary(), engine_->vocabulary(),
                session.logits_.begin());
    session.has_logits_ = true;
  }
  return {};
}

}  // namespace tandem
