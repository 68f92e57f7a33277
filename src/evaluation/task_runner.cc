// Has a model answer task rows, many at a time.

#include "evaluation/task_runner.h"

#include <algorithm>

#include "base/check.h"
#include "engine/decode_batch.h"
#include "engine/sampling/logit_scan.h"
#include "evaluation/distribution.h"
#include "evaluation/task_judge.h"

namespace tandem {
namespace {

tl::unexpected<Error> at_row(const TaskSet& set, size_t row, const Error& error) {
  return tl::unexpected(error.within(fmt::format("{}: line {}", set.path, set.rows[row].line)));
}

size_t common_prefix(std::span<const TokenId> a, std::span<const TokenId> b) {
  const size_t n = std::min(a.size(), b.size());
  return std::mismatch(a.begin(), a.begin() + n, b.begin()).first - a.begin();
}

/// Makes the session hold `tokens`, with the logits after the last, reusing what it holds already.
Result<void> set_tokens(Session& session, std::span<const TokenId> tokens) {
  const size_t n_kept = std::min(common_prefix(session.tokens(), tokens), tokens.size() - 1);
  session.truncate(static_cast<uint32_t>(n_kept));
  return session.append(tokens.subspan(n_kept));
}

Result<TokenId> best_token(std::span<const float> logits) {
  const LogitScan scan = scan_logits(logits);
  if (scan.all_finite) return scan.best;
  const size_t bad = first_non_finite(logits);
  return failure(ErrorCode::kNumeric, "the logit of token {} is {}", bad, logits[bad]);
}

/// A session and the row it answers.
struct Slot {
  std::unique_ptr<Session> session;
  size_t row = 0;
  bool is_busy = false;
  std::vector<TokenId> answer;
};

class GreedyRunner {
 public:
  GreedyRunner(const TaskSet& set, std::shared_ptr<Engine> engine, const TaskPrompter& prompter,
               const TaskOptions& options, std::vector<TaskAnswer>& answers)
      : set_(set),
        engine_(std::move(engine)),
        prompter_(prompter),
        options_(options),
        answers_(answers),
        batch_(engine_) {}

  /// Answers these rows of the set; `on_done` is called after each.
  Result<void> run(const std::vector<size_t>& rows, const std::function<void()>& on_done) {
    slots_.resize(std::min<size_t>(rows.size(), engine_->options().max_sequences));
    for (Slot& slot : slots_) {
      TANDEM_TRY(slot.session, Session::create(engine_));
    }
    on_done_ = on_done;
    size_t next = 0;
    while (true) {
      while (next < rows.size() && find_free() != nullptr) {
        TANDEM_TRY(start(rows[next++]));
      }
      const size_t n_busy = collect_busy();
      if (n_busy == 0) return {};
      TANDEM_TRY(step());
    }
  }

 private:
  Slot* find_free() {
    const auto free =
        std::find_if(slots_.begin(), slots_.end(), [](auto& s) { return !s.is_busy; });
    return free == slots_.end() ? nullptr : &*free;
  }

  /// The free slot whose session holds most of the prompt.
  Slot& best_slot(std::span<const TokenId> prompt) {
    Slot* best = find_free();
    for (Slot& slot : slots_) {
      if (slot.is_busy) continue;
      const size_t held = common_prefix(slot.session->tokens(), prompt);
      if (held > common_prefix(best->session->tokens(), prompt)) best = &slot;
    }
    return *best;
  }

  Result<void> start(size_t row) {
    const auto prompt = prompter_.prompt(set_.rows[row]);
    if (!prompt) return at_row(set_, row, prompt.error());
    Slot& slot = best_slot(*prompt);
    if (auto outcome = set_tokens(*slot.session, *prompt); !outcome) {
      return at_row(set_, row, outcome.error());
    }
    slot.row = row;
    slot.is_busy = true;
    slot.answer.clear();
    return take_token(slot);
  }

  /// Chooses the next token of a slot's answer, or ends it.
  Result<void> take_token(Slot& slot) {
    const auto token = best_token(slot.session->logits());
    if (!token) return at_row(set_, slot.row, token.error());
    if (engine_->model().tokenizer()->is_end_of_generation(*token)) return finish(slot, false);
    slot.answer.push_back(*token);
    const bool is_full = slot.session->n_tokens() == slot.session->context();
    if (slot.answer.size() == options_.max_tokens || is_full) return finish(slot, true);
    return {};
  }

  Result<void> finish(Slot& slot, bool is_cut) {
    TaskAnswer& answer = answers_[slot.row];
    answer.text = prompter_.text(slot.answer);
    answer.is_cut = is_cut;
    answer.is_right = prompter_.judge(set_.rows[slot.row], answer);
    slot.is_busy = false;
    on_done_();
    return {};
  }

  size_t collect_busy() {
    busy_.clear();
    sessions_.clear();
    tokens_.clear();
    for (Slot& slot : slots_) {
      if (!slot.is_busy) continue;
      busy_.push_back(&slot);
      sessions_.push_back(slot.session.get());
      tokens_.push_back(slot.answer.back());
    }
    return busy_.size();
  }

  Result<void> step() {
    if (auto outcome = batch_.step(sessions_, tokens_); !outcome) {
      return at_row(set_, busy_.front()->row, outcome.error().within("or a row decoded beside it"));
    }
    for (Slot* slot : busy_) {
      TANDEM_TRY(take_token(*slot));
    }
    return {};
  }

  const TaskSet& set_;
  std::shared_ptr<Engine> engine_;
  const TaskPrompter& prompter_;
  const TaskOptions& options_;
  std::vector<TaskAnswer>& answers_;
  DecodeBatch batch_;
  std::vector<Slot> slots_;
  std::vector<Slot*> busy_;
  std::vector<Session*> sessions_;
  std::vector<TokenId> tokens_;
  std::function<void()> on_done_;
};

/// Log likelihood of `tokens` behind `prompt`, which the session may hold already.
Result<double> log_likelihood(Session& session, const std::vector<TokenId>& prompt,
                              const std::vector<TokenId>& tokens) {
  if (prompt.empty()) {
    return failure(ErrorCode::kUnsupported, "an empty prompt, and the model has no BOS token");
  }
  std::vector<TokenId> fed(prompt);
  fed.insert(fed.end(), tokens.begin(), tokens.end());
  // Logits of the prompt's last token and of every token of the choice but the last.
  const size_t n_kept = std::min(common_prefix(session.tokens(), fed), prompt.size() - 1);
  session.truncate(static_cast<uint32_t>(n_kept));
  const auto before = std::span(prompt).first(prompt.size() - 1).subspan(n_kept);
  if (!before.empty()) {
    TANDEM_TRY(session.append(before));
  }
  double sum = 0;
  const auto scored = std::span(fed).subspan(prompt.size() - 1, tokens.size());
  TANDEM_TRY(session.append_visiting_logits(
      scored, [&](size_t index, std::span<const float> logits) -> Result<void> {
        TANDEM_TRY(best_token(logits));
        sum += logits[tokens[index]] - log_sum_exp(logits);
        return {};
      }));
  return sum;
}

Result<TaskAnswer> choose(const TaskRow& row, const TaskPrompter& prompter, Session& session,
                          bool per_byte) {
  TANDEM_TRY(auto prompt, prompter.prompt(row));
  TANDEM_TRY(const auto choices, prompter.choices(row, prompt));
  TaskAnswer answer;
  std::vector<double> scores;
  for (size_t i = 0; i < choices.size(); ++i) {
    TANDEM_TRY(const double sum, log_likelihood(session, prompt, choices[i]));
    answer.log_likelihoods.push_back(sum);
    scores.push_back(per_byte ? sum / static_cast<double>(row.choices[i].size()) : sum);
  }
  const size_t best = likeliest(scores);
  answer.text = row.choices[best];
  answer.is_right = row.expected.get<size_t>() == best;
  return answer;
}

}  // namespace

Result<std::vector<TaskAnswer>> run_tasks(const TaskSet& set, const std::shared_ptr<Engine>& engine,
                                          const TaskOptions& options) {
  TANDEM_CHECK(options.max_tokens > 0);
  TANDEM_TRY(const TaskPrompter prompter, TaskPrompter::create(engine->model()));
  std::vector<TaskAnswer> answers(set.rows.size());
  size_t n_done = 0;
  const auto on_done = [&] {
    ++n_done;
    if (options.progress) options.progress(n_done, set.rows.size());
  };
  std::vector<size_t> greedy;
  std::unique_ptr<Session> session;
  for (size_t i = 0; i < set.rows.size(); ++i) {
    if (set.rows[i].kind != TaskKind::kChoice) {
      greedy.push_back(i);
      continue;
    }
    if (session == nullptr) {
      TANDEM_TRY(session, Session::create(engine));
    }
    auto answer = choose(set.rows[i], prompter, *session, options.choice_per_byte);
    if (!answer) return at_row(set, i, answer.error());
    answers[i] = std::move(*answer);
    on_done();
  }
  GreedyRunner runner(set, engine, prompter, options, answers);
  TANDEM_TRY(runner.run(greedy, on_done));
  return answers;
}

}  // namespace tandem
