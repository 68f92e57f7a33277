#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace tandem {

/// One conversation: the tokens so far, their key/value cache and the logits after the last one.
/// One thread's, except cancel(). Sessions of one engine may live on different threads.
///
///   TANDEM_TRY(auto session, Session::create(engine));
///   TANDEM_TRY(session->append(prompt_tokens));
///   TANDEM_TRY(const SampledToken next, sampler.sample(session->logits()));
class Session {
 public:
  /// Errors: kOutOfMemory with the size of the cache.
  static Result<std::unique_ptr<Session>> create(std::shared_ptr<Engine> engine);

  Engine& engine() const { return *engine_; }
  std::span<const TokenId> tokens() const { return tokens_; }
  uint32_t n_tokens() const { return static_cast<uint32_t>(tokens_.size()); }
  uint32_t context() const { return engine_->context(); }

  /// Computes `tokens` in chunks; logits() then belong to the last of them. `progress`, when set,
  /// is called after each chunk with (tokens done, tokens in all). Errors:
  ///   kContextFull      they do not fit; nothing was computed
  ///   kInvalidArgument  an id outside the vocabulary; nothing was computed
  ///   kCancelled        cancel() was called; the session holds the chunks computed before
  using Progress = std::function<void(size_t done, size_t total)>;
  Result<void> append(std::span<const TokenId> tokens, const Progress& progress = {});

  /// As append, handing out the logits after each token: visit(index in `tokens`, logits).
  using LogitsVisitor = std::function<Result<void>(size_t index, std::span<const float> logits)>;
  Result<void> append_visiting_logits(std::span<const TokenId> tokens, const LogitsVisitor& visit);

  /// After the last token: (vocabulary); the caller may use them as scratch. Empty before the
  /// first token and after truncate or load.
  std::span<float> logits();

  /// Forgets all but the first `n` tokens; `n` is at most n_tokens().
  void truncate(uint32_t n);

  /// Makes room by forgetting the older half of what follows the first `n_keep` tokens; the rest is
  /// computed anew at its new positions, so the result equals a fresh session's.
  Result<void> shift_context(uint32_t n_keep);

  /// How the next steps read nested weights; any step may differ from the one before.
  WeightPlanes planes() const { return planes_; }
  void set_planes(WeightPlanes planes) { planes_ = planes; }

  /// From any thread: the running or next append stops between two nodes. Cleared by append's
  /// return.
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  /// Drops a cancel() that came when nothing was left to stop.
  void forget_cancel() { cancelled_.store(false, std::memory_order_relaxed); }

  /// Writes tokens and cache to a file, checksummed, bound to the model (docs/session_files.md).
  Result<void> save(const std::string& path) const;
  /// Replaces this session's content by a saved one. Errors: kCorruptFile for damage; kUnsupported
  /// for another model, cache layout or precision (planes()), or a longer conversation than the
  /// context. The session is unchanged after an error.
  Result<void> load(const std::string& path);

 private:
  friend class DecodeBatch;
  Session(std::shared_ptr<Engine> engine, SequenceState state);
  Result<void> check_room(std::span<const TokenId> tokens) const;
  Result<void> append_one(std::span<const TokenId> token, const Progress& progress);
  Result<void> append_prompt(std::span<const TokenId> tokens, const Progress& progress);
  Result<void> run_chunk(std::span<const TokenId> chunk, std::span<const uint32_t> output_rows,
                         float* logits);

  std::shared_ptr<Engine> engine_;
  SequenceState state_;
  std::vector<TokenId> tokens_;
  std::vector<float> logits_;
  bool has_logits_ = false;
  WeightPlanes planes_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace tandem
