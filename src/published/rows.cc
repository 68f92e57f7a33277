// Reads the table of published measurements.

#include "published/rows.h"

#include <cmath>
#include <cstdlib>
#include <map>

namespace tandem::published {
namespace {

constexpr size_t kMaxBytes = 1 << 20;
constexpr double kLargest = 1e9;

/// Fields of a line; quotes keep commas, as in any CSV.
std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      out.emplace_back();
    } else if (c != '\r') {
      out.back() += c;
    }
  }
  return out;
}

/// One line with its header's names.
class Line {
 public:
  Line(const std::string& origin, size_t number, const std::vector<std::string>& names,
       const std::vector<std::string>& cells)
      : where_(fmt::format("{}: line {}", origin, number)) {
    for (size_t i = 0; i < names.size() && i < cells.size(); ++i) cells_[names[i]] = cells[i];
  }

  std::string text(const char* name) const {
    const auto found = cells_.find(name);
    return found == cells_.end() ? std::string() : found->second;
  }

  Result<std::optional<double>> number(const char* name) const {
    const std::string cell = text(name);
    if (cell.empty()) return std::nullopt;
    char* end = nullptr;
    const double value = std::strtod(cell.c_str(), &end);
    if (*end != '\0' || !std::isfinite(value) || value <= 0 || value > kLargest) {
      return failure(ErrorCode::kCorruptFile,
                     "{}: {}: \"{}\" is not a number above 0 and at most {}", where_, name, cell,
                     kLargest);
    }
    return value;
  }

  const std::string& where() const { return where_; }

 private:
  std::string where_;
  std::map<std::string, std::string> cells_;
};

Result<void> read_numbers(const Line& line, Row& row) {
  TANDEM_TRY(const auto prompt, line.number("prompt_tokens"));
  TANDEM_TRY(row.prefill_tok_s, line.number("prefill_tok_s"));
  TANDEM_TRY(const auto ttft_ms, line.number("ttft_ms"));
  TANDEM_TRY(row.decode_tok_s, line.number("decode_tok_s"));
  TANDEM_TRY(const auto prefill_mj, line.number("prefill_mj_tok"));
  TANDEM_TRY(const auto decode_mj, line.number("decode_mj_tok"));
  TANDEM_TRY(const auto billions, line.number("params_b"));
  if (billions) row.n_weights = *billions * 1e9;
  if (prompt) row.prompt_tokens = *prompt;
  if (!row.prefill_tok_s && ttft_ms && prompt) row.prefill_tok_s = *prompt * 1e3 / *ttft_ms;
  if (prefill_mj) row.prefill_j_tok = *prefill_mj * 1e-3;
  if (decode_mj) row.decode_j_tok = *decode_mj * 1e-3;
  return {};
}

Result<Row> read_row(const Line& line) {
  Row row;
  row.soc = line.text("soc");
  row.variant = line.text("variant");
  row.unit = line.text("unit");
  row.model = line.text("model");
  row.weight_bits = line.text("weight_bits");
  row.source = line.text("source");
  row.rails_only = line.text("power_scope") == "rails";
  const std::string judged = line.text("judged");
  row.judge_speed = judged.find("speed") != std::string::npos;
  row.judge_energy = judged.find("energy") != std::string::npos;
  const std::string type = line.text("act_type");
  row.activations = soc::numeric_type_from(type);
  if (!type.empty() && !row.activations) {
    return failure(ErrorCode::kCorruptFile, "{}: act_type: \"{}\" is not a known type",
                   line.where(), type);
  }
  if (row.soc.empty() || row.model.empty()) {
    return failure(ErrorCode::kCorruptFile, "{}: soc or model is missing", line.where());
  }
  TANDEM_TRY(read_numbers(line, row));
  return row;
}

}  // namespace

Result<std::vector<Row>> parse_rows(std::string_view csv, const std::string& origin) {
  if (csv.size() > kMaxBytes) {
    return failure(ErrorCode::kCorruptFile, "{}: {} bytes are above the limit of {}", origin,
                   csv.size(), kMaxBytes);
  }
  std::vector<Row> out;
  std::vector<std::string> names;
  size_t number = 0;
  while (!csv.empty()) {
    const size_t end = std::min(csv.find('\n'), csv.size());
    const std::string_view text = csv.substr(0, end);
    csv.remove_prefix(std::min(end + 1, csv.size()));
    ++number;
    if (text.empty()) continue;
    const std::vector<std::string> cells = split(text);
    if (names.empty()) {
      names = cells;
      continue;
    }
    if (cells.size() != names.size()) {
      return failure(ErrorCode::kCorruptFile, "{}: line {}: {} cells; the header has {}", origin,
                     number, cells.size(), names.size());
    }
    TANDEM_TRY(Row row, read_row(Line(origin, number, names, cells)));
    row.line = number;
    out.push_back(std::move(row));
  }
  if (names.empty()) return failure(ErrorCode::kCorruptFile, "{}: has no header", origin);
  return out;
}

}  // namespace tandem::published
