// Reads task files.

#include "evaluation/task_set.h"

#include <algorithm>
#include <filesystem>

#include "base/hash.h"
#include "base/mapped_file.h"

namespace tandem {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxChoices = 1000;

/// Brackets in excess of what any question needs would make comparing recurse deeply.
bool is_shallow(std::string_view line) {
  size_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return false;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return true;
}

std::optional<TaskKind> kind_from_name(std::string_view name) {
  for (const auto kind :
       {TaskKind::kExact, TaskKind::kJson, TaskKind::kToolCall, TaskKind::kChoice}) {
    if (name == to_string(kind)) return kind;
  }
  return std::nullopt;
}

tl::unexpected<Error> wrong(std::string_view what) {
  return failure(ErrorCode::kCorruptFile, "{}", what);
}

/// What `kind` says, or what the other keys suggest.
Result<TaskKind> kind_of(const OrderedJson& object) {
  if (const auto kind = object.find("kind"); kind != object.end()) {
    const auto known =
        kind->is_string() ? kind_from_name(kind->get_ref<const std::string&>()) : std::nullopt;
    if (!known) return wrong("kind must be exact, json, tool_call or choice");
    return *known;
  }
  if (object.contains("choices")) return TaskKind::kChoice;
  if (object.contains("tools")) return TaskKind::kToolCall;
  return object["expected"].is_string() ? TaskKind::kExact : TaskKind::kJson;
}

Result<void> read_question(const OrderedJson& object, TaskRow& row) {
  const auto text = [&](const char* key) -> const std::string* {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get_ptr<const std::string*>()
                                                       : nullptr;
  };
  const auto messages = object.find("messages");
  const int n_forms =
      (messages != object.end()) + object.contains("user") + object.contains("prompt");
  if (n_forms != 1) return wrong("one of user, messages and prompt is needed");
  if (messages != object.end()) {
    if (!messages->is_array() || messages->empty()) return wrong("messages must be a list");
    row.messages = *messages;
    return {};
  }
  if (object.contains("prompt")) {
    if (text("prompt") == nullptr) return wrong("prompt must be a text");
    row.prompt = *text("prompt");
    return {};
  }
  if (text("user") == nullptr) return wrong("user must be a text");
  row.messages = OrderedJson::array();
  if (object.contains("system")) {
    if (text("system") == nullptr) return wrong("system must be a text");
    row.messages.push_back({{"role", "system"}, {"content", *text("system")}});
  }
  row.messages.push_back({{"role", "user"}, {"content", *text("user")}});
  return {};
}

/// `expected` of a choice: its index, or its text.
Result<void> read_choices(const OrderedJson& object, TaskRow& row) {
  const auto choices = object.find("choices");
  const bool is_list = choices != object.end() && choices->is_array() && choices->size() >= 2 &&
                       choices->size() <= kMaxChoices;
  if (!is_list) return wrong("choices must be a list of 2 to 1000 texts");
  for (const OrderedJson& choice : *choices) {
    if (!choice.is_string() || choice.get_ref<const std::string&>().empty()) {
      return wrong("choices must be texts, none empty");
    }
    row.choices.push_back(choice.get<std::string>());
  }
  if (row.expected.is_string()) {
    const auto found = std::find(row.choices.begin(), row.choices.end(),
                                 row.expected.get_ref<const std::string&>());
    if (found == row.choices.end()) return wrong("expected is not among the choices");
    row.expected = found - row.choices.begin();
  }
  if (!row.expected.is_number_integer() || row.expected < 0 || row.expected >= row.choices.size()) {
    return wrong("expected must be a choice or the index of one, from 0");
  }
  return {};
}

Result<TaskRow> parse_row(std::string_view line) {
  if (!is_shallow(line)) return wrong("nested too deeply");
  const auto object = OrderedJson::parse(line, nullptr, false);
  if (!object.is_object()) return wrong("not a JSON object");
  const auto expected = object.find("expected");
  if (expected == object.end()) return wrong("expected is missing");
  TaskRow row;
  TANDEM_TRY(row.kind, kind_of(object));
  TANDEM_TRY(read_question(object, row));
  row.expected = nlohmann::json(*expected);
  if (const auto tools = object.find("tools"); tools != object.end() && !tools->is_null()) {
    if (!tools->is_array()) return wrong("tools must be a list");
    if (row.messages.is_null()) return wrong("tools need user or messages");
    row.tools = *tools;
  }
  if (row.kind == TaskKind::kExact && !row.expected.is_string()) {
    return wrong("expected must be a text");
  }
  if (row.kind == TaskKind::kToolCall && row.messages.is_null()) {
    return wrong("a tool_call needs user or messages");
  }
  if (row.kind == TaskKind::kChoice) {
    TANDEM_TRY(read_choices(object, row));
  }
  return row;
}

}  // namespace

const char* to_string(TaskKind kind) {
  switch (kind) {
    case TaskKind::kExact:
      return "exact";
    case TaskKind::kJson:
      return "json";
    case TaskKind::kToolCall:
      return "tool_call";
    case TaskKind::kChoice:
      return "choice";
  }
  return "";
}

Result<TaskSet> parse_task_set(const std::string& path, std::string_view text, size_t limit) {
  TaskSet set{.name = std::filesystem::path(path).stem().string(), .path = path, .rows = {}};
  for (size_t line_number = 1; !text.empty(); ++line_number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == line.npos) continue;
    auto row = parse_row(line);
    if (!row) {
      return tl::unexpected(row.error().within(fmt::format("{}: line {}", path, line_number)));
    }
    row->line = line_number;
    row->hash = content_hash(std::as_bytes(std::span(line)));
    set.rows.push_back(std::move(*row));
    if (set.rows.size() == limit) break;
  }
  if (set.rows.empty()) {
    return failure(ErrorCode::kCorruptFile, "{}: no rows", path);
  }
  return set;
}

Result<TaskSet> load_task_set(const std::string& path, size_t limit) {
  TANDEM_TRY(const auto file, MappedFile::open(path));
  return parse_task_set(
      path, {reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()}, limit);
}

}  // namespace tandem
