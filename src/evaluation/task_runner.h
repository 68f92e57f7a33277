#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "evaluation/statistics.h"
#include "evaluation/task_set.h"

namespace tandem {

struct TaskOptions {
  uint32_t max_tokens = 64;  ///< of an answer
  /// Choices are compared by log likelihood per byte of their text, which does not favour short
  /// ones; otherwise by the whole log likelihood.
  bool choice_per_byte = false;
  /// (rows done, in all); optional.
  std::function<void(size_t done, size_t total)> progress = {};
};

/// What a model made of a row.
struct TaskAnswer {
  std::string text;  ///< the reply, or the choice
  bool is_right = false;
  bool is_cut = false;                       ///< ended by max_tokens
  std::vector<double> log_likelihoods = {};  ///< of the choices, in nats
};

/// Answers every row of `set` greedily: the likeliest token, the lowest id among equals, until the
/// model ends its turn. Rows are decoded together, as many as the engine's max_sequences; the
/// answers do not depend on that, to the bit. Errors: kUnsupported for a model without tokenizer or
/// chat template where a row needs one; those of Session::append, naming the row; kNumeric.
Result<std::vector<TaskAnswer>> run_tasks(const TaskSet& set, const std::shared_ptr<Engine>& engine,
                                          const TaskOptions& options = {});

/// The ids of the prompt that a row's answer follows.
class TaskPrompter {
 public:
  static Result<TaskPrompter> create(const Model& model);
  TaskPrompter(TaskPrompter&&) noexcept;
  ~TaskPrompter();

  Result<std::vector<TokenId>> prompt(const TaskRow& row) const;
  /// The ids of every choice behind the prompt. Where choices join the prompt's last token,
  /// `prompt` is shortened to the ids that all have in common.
  Result<std::vector<std::vector<TokenId>>> choices(const TaskRow& row,
                                                    std::vector<TokenId>& prompt) const;
  /// An answer's ids as text, with the markers that the judge needs.
  std::string text(std::span<const TokenId> answer) const;
  bool judge(const TaskRow& row, const TaskAnswer& answer) const;

 private:
  struct State;
  explicit TaskPrompter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tandem
