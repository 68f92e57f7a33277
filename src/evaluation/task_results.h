#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "evaluation/statistics.h"
#include "evaluation/task_runner.h"
#include "evaluation/task_set.h"

namespace tandem {

/// Right or wrong for each row of each task set, as a run stored them.
class StoredResults {
 public:
  /// Errors: those of MappedFile::open; kCorruptFile naming the line.
  static Result<StoredResults> load(const std::string& path);
  static Result<StoredResults> parse(const std::string& path, std::string_view text);

  /// What the other run made of the rows of `set`. Errors: kInvalidArgument for a row that it did
  /// not answer, or answered when it read otherwise.
  Result<std::vector<bool>> of(const TaskSet& set) const;

  const std::string& path() const { return path_; }

 private:
  struct Item {
    uint64_t hash;
    bool is_right;
  };
  std::string path_;
  std::map<std::pair<std::string, size_t>, Item> items_;  ///< by set and line
};

/// One set and its answers, as lines of a stored file (docs/evaluation.md).
std::string to_stored_lines(const TaskSet& set, const std::vector<TaskAnswer>& answers);

/// The accuracy of a set. The interval is Wilson's.
struct TaskFigures {
  std::string name;
  std::string path;
  uint64_t n = 0;
  uint64_t n_right = 0;
  uint64_t n_cut = 0;  ///< answers that max_tokens ended
  double accuracy = 0;
  Interval interval = {};
  /// Against another run over the same rows.
  struct Paired {
    uint64_t only_this = 0;  ///< rows that only this run answered right
    uint64_t only_other = 0;
    double difference = 0;   ///< of the accuracies, this less the other
    Interval interval = {};  ///< paired_difference_interval
    double p_value = 1;      ///< mcnemar_p_value
  };
  std::optional<Paired> paired = {};
};

/// `other` may be empty.
TaskFigures summarize(const TaskSet& set, const std::vector<TaskAnswer>& answers,
                      const std::vector<bool>& other);

}  // namespace tandem
