// The loop from a prompt to a reply.

#include "engine/generation.h"

#include <algorithm>

#include "base/hash.h"
#include "text/tokenizer/streaming_detokenizer.h"

namespace tandem {

const char* to_string(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

namespace {

/// One call of generate(): what it was given and what it has made so far.
class Generation {
 public:
  Generation(Session& session, Sampler& sampler, const GenerationOptions& options,
             const GenerationObserver& observer)
      : session_(session),
        sampler_(sampler),
        options_(options),
        observer_(observer),
        tokenizer_(*session.engine().model().tokenizer()),
        text_(tokenizer_, options.stop,
              {.show_control = options.show_control,
               .shown_control = options.shown_control,
               .begins_text = false}),
        started_(session.engine().now()),
        before_(session.engine().simulated()) {
    if (options.max_tokens > 0) out_.tokens.reserve(static_cast<size_t>(options.max_tokens));
  }

  Result<GenerationResult> run(std::span<const TokenId> prompt) {
    TANDEM_TRY(sampler_.accept_prompt(prompt));
    out_.n_prompt = static_cast<uint32_t>(prompt.size());
    TANDEM_TRY(const bool prompt_done, append(prompt, observer_.on_prompt));
    const SimulatedTotals after_prompt = session_.engine().simulated();
    const double getting_ready = after_prompt.compile_seconds - before_.compile_seconds +
                                 after_prompt.wake_seconds - before_.wake_seconds;
    out_.prompt_seconds = session_.engine().now() - started_ - getting_ready;
    out_.prompt_joules = after_prompt.joules - before_.joules;
    if (prompt_done) {
      TANDEM_TRY(decode());
    }
    show_held_text();
    session_.forget_cancel();
    if (!out_.tokens.empty()) {
      out_.decode_seconds = session_.engine().now() - started_ - out_.first_token_seconds;
    }
    out_.decode_joules = session_.engine().simulated().joules - after_prompt.joules;
    return std::move(out_);
  }

 private:
  /// False when it was cancelled.
  Result<bool> append(std::span<const TokenId> tokens, const Session::Progress& progress) {
    auto outcome = session_.append(tokens, progress);
    if (outcome) return true;
    if (outcome.error().code != ErrorCode::kCancelled) return tl::unexpected(outcome.error());
    out_.finish_reason = FinishReason::kCancelled;
    return false;
  }

  Result<void> decode() {
    out_.finish_reason = FinishReason::kLength;
    while (!reached_limit() && has_room()) {
      TANDEM_TRY(const TokenId token, next_token());
      if (ended_by(token)) {
        out_.finish_reason = FinishReason::kStop;
        return {};
      }
      if (reached_limit()) return {};
      TANDEM_TRY(make_room());
      TANDEM_TRY(const bool going_on, append({&token, 1}, {}));
      if (!going_on) return {};
    }
    return {};
  }

  bool reached_limit() const {
    return options_.max_tokens >= 0 &&
           out_.tokens.size() >= static_cast<size_t>(options_.max_tokens);
  }

  Result<TokenId> next_token() {
    const std::span<float> logits = session_.logits();
    if (options_.hash_logits) out_.logits_hash = content_hash(std::as_bytes(logits));
    TANDEM_TRY(const SampledToken sampled, sampler_.sample(logits));
    TANDEM_TRY(sampler_.accept(sampled.id));
    out_.tokens.push_back(sampled.id);
    if (out_.tokens.size() == 1) out_.first_token_seconds = session_.engine().now() - started_;
    const bool ends = !options_.ignore_end && tokenizer_.is_end_of_generation(sampled.id);
    const std::string_view shown = ends ? std::string_view() : text_.push(sampled.id);
    out_.text += shown;
    if (observer_.on_token) observer_.on_token(sampled, shown);
    return sampled.id;
  }

  bool ended_by(TokenId token) const {
    return text_.stopped() || (!options_.ignore_end && tokenizer_.is_end_of_generation(token));
  }

  void show_held_text() {
    const std::string_view held = text_.finish();
    out_.text += held;
    if (observer_.on_held_text && !held.empty()) observer_.on_held_text(held);
  }

  bool is_full() const { return session_.n_tokens() >= session_.context(); }
  bool has_room() const { return options_.shift_context || !is_full(); }

  Result<void> make_room() {
    if (!is_full()) return {};
    return session_.shift_context(options_.shift_keep);
  }

  Session& session_;
  Sampler& sampler_;
  const GenerationOptions& options_;
  const GenerationObserver& observer_;
  const Tokenizer& tokenizer_;
  StreamingDetokenizer text_;
  double started_;
  SimulatedTotals before_;
  GenerationResult out_;
};

}  // namespace

Result<GenerationResult> generate(Session& session, Sampler& sampler,
                                  std::span<const TokenId> prompt, const GenerationOptions& options,
                                  const GenerationObserver& observer) {
  if (session.engine().model().tokenizer() == nullptr) {
    return failure(ErrorCode::kUnsupported, "{}: the model has no tokenizer, text needs one",
                   session.engine().model().metadata().source());
  }
  if (prompt.empty() && session.logits().empty()) {
    return failure(ErrorCode::kInvalidArgument, "the prompt has no tokens");
  }
  return Generation(session, sampler, options, observer).run(prompt);
}

}  // namespace tandem
