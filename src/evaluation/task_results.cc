// Accuracy of answered sets, and results stored for paired comparisons.

#include "evaluation/task_results.h"

#include <fmt/format.h>

#include <charconv>

#include "base/mapped_file.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "tandem.items.v1";

tl::unexpected<Error> wrong_line(const std::string& path, size_t line) {
  return failure(ErrorCode::kCorruptFile, "{}: line {} is not a stored result ({})", path, line,
                 kSchema);
}

std::optional<uint64_t> hash_from_text(const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Result<StoredResults> StoredResults::load(const std::string& path) {
  TANDEM_TRY(const auto file, MappedFile::open(path));
  return parse(path, {reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()});
}

Result<StoredResults> StoredResults::parse(const std::string& path, std::string_view text) {
  StoredResults out;
  out.path_ = path;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const Json line = Json::parse(text.substr(0, end), nullptr, false);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.is_object()) return wrong_line(path, number);
    const auto schema = line.find("schema");
    const auto set = line.find("set");
    const auto place = line.find("line");
    const auto row = line.find("row");
    const auto right = line.find("right");
    const bool has_all = schema != line.end() && set != line.end() && place != line.end() &&
                         row != line.end() && right != line.end();
    if (!has_all || *schema != kSchema || !set->is_string() || !place->is_number_unsigned() ||
        !row->is_string() || !right->is_boolean()) {
      return wrong_line(path, number);
    }
    const auto hash = hash_from_text(row->get_ref<const std::string&>());
    if (!hash) return wrong_line(path, number);
    out.items_[{set->get<std::string>(), place->get<size_t>()}] = {*hash, right->get<bool>()};
  }
  return out;
}

Result<std::vector<bool>> StoredResults::of(const TaskSet& set) const {
  std::vector<bool> out;
  for (const TaskRow& row : set.rows) {
    const auto item = items_.find({set.name, row.line});
    if (item == items_.end()) {
      return failure(ErrorCode::kInvalidArgument, "{}: no result for line {} of {}", path_,
                     row.line, set.path);
    }
    if (item->second.hash != row.hash) {
      return failure(ErrorCode::kInvalidArgument,
                     "{}: its result for line {} of {} is that of another question", path_,
                     row.line, set.path);
    }
    out.push_back(item->second.is_right);
  }
  return out;
}

std::string to_stored_lines(const TaskSet& set, const std::vector<TaskAnswer>& answers) {
  std::string out;
  for (size_t i = 0; i < set.rows.size(); ++i) {
    const Json line{{"schema", kSchema},
                    {"set", set.name},
                    {"line", set.rows[i].line},
                    {"row", fmt::format("{:016x}", set.rows[i].hash)},
                    {"right", answers[i].is_right},
                    {"answer", answers[i].text}};
    out += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return out;
}

TaskFigures summarize(const TaskSet& set, const std::vector<TaskAnswer>& answers,
                      const std::vector<bool>& other) {
  TaskFigures out{.name = set.name, .path = set.path, .n = answers.size()};
  for (const TaskAnswer& answer : answers) {
    out.n_right += answer.is_right;
    out.n_cut += answer.is_cut;
  }
  out.accuracy = static_cast<double>(out.n_right) / static_cast<double>(out.n);
  out.interval = wilson_interval(out.n_right, out.n);
  if (other.empty()) return out;
  TaskFigures::Paired paired;
  for (size_t i = 0; i < answers.size(); ++i) {
    paired.only_this += answers[i].is_right && !other[i];
    paired.only_other += !answers[i].is_right && other[i];
  }
  paired.difference =
      (static_cast<double>(paired.only_this) - static_cast<double>(paired.only_other)) /
      static_cast<double>(out.n);
  paired.interval = paired_difference_interval(paired.only_this, paired.only_other, out.n);
  paired.p_value = mcnemar_p_value(paired.only_this, paired.only_other);
  out.paired = paired;
  return out;
}

}  // namespace tandem
