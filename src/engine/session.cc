#include "engine/session.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace tandem {

Session::Session(std::shared_ptr<Engine> engine, SequenceState state)
    : engine_(std::move(engine)),
      state_(std::move(state)),
      logits_(engine_->vocabulary()),
      planes_(engine_->options().planes) {
  tokens_.reserve(engine_->context());
}

Result<std::unique_ptr<Session>> Session::create(std::shared_ptr<Engine> engine) {
  TANDEM_TRY(auto state, engine->create_state());
  return std::unique_ptr<Session>(new Session(std::move(engine), std::move(state)));
}

Result<void> Session::check_room(std::span<const TokenId> tokens) const {
  if (tokens.size() > context() - tokens_.size()) {
    return failure(ErrorCode::kContextFull,
                   "context is full: {} tokens held and {} more asked for, the limit is {}",
                   tokens_.size(), tokens.size(), context());
  }
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool known = tokens[i] >= 0 && static_cast<uint32_t>(tokens[i]) < engine_->vocabulary();
    if (!known) {
      return failure(ErrorCode::kInvalidArgument, "token {} of {} is {}, must be between 0 and {}",
                     i, tokens.size(), tokens[i], engine_->vocabulary() - 1);
    }
  }
  return {};
}

Result<void> Session::run_chunk(std::span<const TokenId> chunk,
                                std::span<const uint32_t> output_rows, float* logits) {
  const SequenceRows rows{0, static_cast<uint32_t>(chunk.size()), n_tokens(), &state_};
  TANDEM_TRY(engine_->forward(chunk, {&rows, 1}, output_rows, logits, &cancelled_, planes_));
  tokens_.insert(tokens_.end(), chunk.begin(), chunk.end());
  return {};
}

Result<void> Session::append(std::span<const TokenId> tokens, const Progress& progress) {
  TANDEM_TRY(check_room(tokens));
  if (!tokens.empty()) {
    has_logits_ = false;
    auto outcome =
        tokens.size() == 1 ? append_one(tokens, progress) : append_prompt(tokens, progress);
    if (!outcome) {
      cancelled_ = false;
      return outcome;
    }
    has_logits_ = true;
  }
  cancelled_ = false;
  return {};
}

/// Decoding comes this way, and allocates nothing.
Result<void> Session::append_one(std::span<const TokenId> token, const Progress& progress) {
  constexpr uint32_t kRow = 0;
  TANDEM_TRY(run_chunk(token, {&kRow, 1}, logits_.data()));
  if (progress) progress(1, 1);
  return {};
}

Result<void> Session::append_prompt(std::span<const TokenId> tokens, const Progress& progress) {
  const uint32_t first = n_tokens();
  return engine_->forward_prompt(
      tokens, state_, first, logits_.data(), &cancelled_, planes_, [&](size_t n) {
        const auto computed = tokens.subspan(n_tokens() - first, n - (n_tokens() - first));
        tokens_.insert(tokens_.end(), computed.begin(), computed.end());
        if (progress) progress(n, tokens.size());
      });
}

Result<void> Session::append_visiting_logits(std::span<const TokenId> tokens,
                                             const LogitsVisitor& visit) {
  TANDEM_TRY(check_room(tokens));
  const size_t chunk_size = std::min(engine_->max_prefill_rows(), engine_->options().max_outputs);
  std::vector<uint32_t> all_rows(chunk_size);
  std::iota(all_rows.begin(), all_rows.end(), 0);
  const size_t vocabulary = engine_->vocabulary();
  std::vector<float> logits(chunk_size * vocabulary);
  has_logits_ = false;
  for (size_t done = 0; done < tokens.size();) {
    const auto chunk = tokens.subspan(done, std::min(chunk_size, tokens.size() - done));
    TANDEM_TRY(run_chunk(chunk, std::span(all_rows).first(chunk.size()), logits.data()));
    for (size_t row = 0; row < chunk.size(); ++row) {
      TANDEM_TRY(visit(done + row, std::span(logits).subspan(row * vocabulary, vocabulary)));
    }
    done += chunk.size();
    std::copy_n(logits.end() - (chunk_size - chunk.size() + 1) * vocabulary, vocabulary,
                logits_.begin());
    has_logits_ = true;
  }
  return {};
}

std::span<float> Session::logits() {
  return has_logits_ ? std::span<float>(logits_) : std::span<float>();
}

void Session::truncate(uint32_t n) {
  TANDEM_CHECK(n <= n_tokens());
  if (n == n_tokens()) return;
  tokens_.resize(n);
  has_logits_ = false;
}

Result<void> Session::shift_context(uint32_t n_keep) {
  if (n_keep >= n_tokens()) {
    return failure(ErrorCode::kInvalidArgument, "cannot keep {} of {} tokens and make room", n_keep,
                   n_tokens());
  }
  const uint32_t n_drop = (n_tokens() - n_keep + 1) / 2;
  const std::vector<TokenId> rest(tokens_.begin() + n_keep + n_drop, tokens_.end());
  truncate(n_keep);
  return append(rest);
}

}  // namespace tandem
