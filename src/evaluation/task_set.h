#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tandem {

/// How an answer is judged.
enum class TaskKind : uint8_t {
  kExact,     ///< the text equals the expected one, blanks around it aside
  kJson,      ///< the text is JSON and equal as a value
  kToolCall,  ///< the calls equal the expected one, several, or none
  kChoice,    ///< the expected choice is the likeliest
};
/// "exact", "json", "tool_call", "choice".
const char* to_string(TaskKind kind);

/// One question of a task file.
struct TaskRow {
  TaskKind kind = TaskKind::kExact;
  nlohmann::ordered_json messages = {};  ///< a conversation for the chat template, or null
  nlohmann::ordered_json tools = {};     ///< OpenAI's form, or null
  std::string prompt = {};               ///< completed as it is when there are no messages
  nlohmann::json expected = {};          ///< text, JSON value, call or calls, index of a choice
  std::vector<std::string> choices = {};
  size_t line = 0;    ///< in the file, from 1
  uint64_t hash = 0;  ///< of the line, to recognise the row in stored results
};

struct TaskSet {
  std::string name;  ///< the file's, without folder and ending
  std::string path;
  std::vector<TaskRow> rows;
};

/// Parses a task file: one JSON object a line (docs/evaluation.md). Reads at most `limit` rows, 0:
/// all. Errors: kCorruptFile naming the line and what is wrong with it, or a file without rows.
Result<TaskSet> parse_task_set(const std::string& path, std::string_view text, size_t limit = 0);
Result<TaskSet> load_task_set(const std::string& path, size_t limit = 0);

}  // namespace tandem
