// Scores what another runtime computed of the same tokens, by the code that scores Tandem.
//
//   score_peer windows MODEL TEXT WINDOW OUT           ids of the text's windows, one window a line
//   score_peer text MODEL TEXT WINDOW REFERENCE        raw f32 logits on standard input, a row for
//                                                      every id of those windows -> figures
//   score_peer prompts MODEL TASKS LIMIT OUT           ids of the rows' prompts, one row a line
//   score_peer tasks MODEL TASKS LIMIT ANSWERS ITEMS   ids of the answers, one row a line; compares
//                                                      with the stored results ITEMS -> figures
//
// MODEL gives the tokenizer; texts are read in documents with control tokens, windows are chunks.
// Figures are JSON of schema tandem.eval.v1.
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "base/check.h"
#include "evaluation/evaluation.h"
#include "evaluation/evaluation_json.h"

namespace {

using namespace tandem;

constexpr uint32_t kMaxRows = 256;

/// Logits that a peer writes to standard input, of every id in order.
class StreamSource : public LogitsSource {
 public:
  explicit StreamSource(uint32_t vocabulary) : vocabulary_(vocabulary), row_(vocabulary) {}

  Result<void> begin(std::span<const TokenId> context) override {
    // The last row of a window predicts what comes after it.
    const size_t n_unused = has_begun_ + context.size() - 1;
    has_begun_ = true;
    for (size_t i = 0; i < n_unused; ++i) {
      TANDEM_TRY(read(row_.data(), 1));
    }
    return {};
  }

  Result<void> predict(std::span<const TokenId> targets, float* logits) override {
    return read(logits, targets.size());
  }

 private:
  Result<void> read(float* out, size_t n_rows) {
    if (std::fread(out, sizeof(float) * vocabulary_, n_rows, stdin) == n_rows) return {};
    return failure(ErrorCode::kIo, "standard input: the logits end early");
  }

  uint32_t vocabulary_;
  std::vector<float> row_;
  bool has_begun_ = false;
};

Result<EvaluationText> read_text(const Model& model, const std::string& path) {
  return load_text(path, *model.tokenizer(), {.documents = true, .parse_special = true});
}

Result<std::vector<Window>> windows_of(const EvaluationText& text, const std::string& window) {
  return make_windows(text.tokens, text.bos,
                      {.mode = WindowMode::kChunked,
                       .window = static_cast<uint32_t>(std::strtoul(window.c_str(), nullptr, 10))});
}

Result<void> write_lines(const std::string& path, const std::vector<std::vector<TokenId>>& lines) {
  std::ofstream out(path);
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) out << (i == 0 ? "" : " ") << line[i];
    out << "\n";
  }
  out.close();
  if (!out) return failure(ErrorCode::kIo, "{}: cannot write", path);
  return {};
}

Result<void> write_windows(const Model& model, char** args) {
  TANDEM_TRY(const auto text, read_text(model, args[0]));
  TANDEM_TRY(const auto windows, windows_of(text, args[1]));
  std::vector<std::vector<TokenId>> lines;
  for (const Window& window : windows) lines.push_back(window.tokens);
  return write_lines(args[2], lines);
}

EvaluationReport report_of(const Model& model) {
  return {.model = "a peer", .fingerprint = model.fingerprint(), .isa = "", .size = size_of(model)};
}

Result<void> score_text(const Model& model, char** args) {
  TANDEM_TRY(const auto text, read_text(model, args[0]));
  TANDEM_TRY(const auto windows, windows_of(text, args[1]));
  TANDEM_TRY(auto reference, LogitsReader::open(args[2]));
  const uint32_t vocabulary = model.hyperparameters().vocabulary;
  StreamSource source(vocabulary);
  TANDEM_TRY(const auto scores,
             score_windows(windows, source, {.stored = &reference},
                           {.vocabulary = vocabulary, .max_rows = kMaxRows, .n_threads = 2}));
  EvaluationReport report = report_of(model);
  report.text = TextReport{.path = args[0], .definition = "chunks", .windows = {}};
  report.text->figures = summarize(scores);
  fmt::print("{}\n", evaluation_document(report).dump(2));
  return {};
}

Result<TaskSet> read_tasks(char** args) {
  return load_task_set(args[0], std::strtoul(args[1], nullptr, 10));
}

Result<void> write_prompts(const Model& model, char** args) {
  TANDEM_TRY(const auto set, read_tasks(args));
  TANDEM_TRY(const auto prompter, TaskPrompter::create(model));
  std::vector<std::vector<TokenId>> lines;
  for (const TaskRow& row : set.rows) {
    TANDEM_TRY(lines.emplace_back(), prompter.prompt(row));
  }
  return write_lines(args[2], lines);
}

Result<void> score_tasks(const Model& model, char** args) {
  TANDEM_TRY(const auto set, read_tasks(args));
  TANDEM_TRY(const auto prompter, TaskPrompter::create(model));
  TANDEM_TRY(const auto stored, StoredResults::load(args[3]));
  TANDEM_TRY(const auto other, stored.of(set));
  std::ifstream in(args[2]);
  std::vector<TaskAnswer> answers;
  for (std::string line; std::getline(in, line) && answers.size() < set.rows.size();) {
    std::istringstream ids(line);
    const std::vector<TokenId> tokens{std::istream_iterator<TokenId>(ids), {}};
    TaskAnswer& answer = answers.emplace_back();
    answer.text = prompter.text(tokens);
    answer.is_right = prompter.judge(set.rows[answers.size() - 1], answer);
  }
  if (answers.size() != set.rows.size()) {
    return failure(ErrorCode::kCorruptFile, "{}: {} answers for {} rows", args[2], answers.size(),
                   set.rows.size());
  }
  EvaluationReport report = report_of(model);
  report.tasks.push_back(summarize(set, answers, other));
  fmt::print("{}\n", evaluation_document(report).dump(2));
  return {};
}

Result<void> run(int argc, char** argv) {
  const std::string command = argc > 2 ? argv[1] : "";
  const bool is_known = (command == "windows" && argc == 6) || (command == "text" && argc == 6) ||
                        (command == "prompts" && argc == 6) || (command == "tasks" && argc == 7);
  if (!is_known) {
    return failure(ErrorCode::kInvalidArgument, "usage: see the head of score_peer.cc");
  }
  TANDEM_TRY(const auto model, Model::load(argv[2]));
  if (model->tokenizer() == nullptr) {
    return failure(ErrorCode::kUnsupported, "{}: no tokenizer", argv[2]);
  }
  char** args = argv + 3;
  if (command == "windows") return write_windows(*model, args);
  if (command == "text") return score_text(*model, args);
  if (command == "prompts") return write_prompts(*model, args);
  return score_tasks(*model, args);
}

}  // namespace

int main(int argc, char** argv) {
  const Result<void> done = run(argc, argv);
  if (done) return 0;
  fmt::print(stderr, "score_peer: {}\n", done.error().message);
  return 1;
}
