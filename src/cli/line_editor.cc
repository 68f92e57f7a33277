#include "cli/line_editor.h"

#include <editline/readline.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <iostream>

namespace tandem::cli {
namespace {

constexpr int kHistoryLines = 1000;

std::string history_path() {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  if (state == nullptr && home == nullptr) return "";
  const std::filesystem::path base = state != nullptr
                                         ? std::filesystem::path(state)
                                         : std::filesystem::path(home) / ".local" / "state";
  std::error_code error;
  std::filesystem::create_directories(base / "tandem", error);
  return error ? "" : (base / "tandem" / "history").string();
}

}  // namespace

LineEditor::LineEditor() : terminal_(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
  if (!terminal_) return;
  // Editing needs to know where characters begin, also when the locale is unset.
  std::setlocale(LC_CTYPE, "");
  if (MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
  static char program_name[] = "tandem";
  rl_readline_name = program_name;
  using_history();
  stifle_history(kHistoryLines);
  history_file_ = history_path();
  if (!history_file_.empty()) read_history(history_file_.c_str());
}

LineEditor::~LineEditor() {
  if (!history_file_.empty()) write_history(history_file_.c_str());
}

std::optional<std::string> LineEditor::read_line(const std::string& prompt) {
  if (!terminal_) {
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
  }
  char* line = readline(prompt.c_str());
  if (line == nullptr) return std::nullopt;
  std::string out(line);
  std::free(line);
  if (!out.empty()) add_history(out.c_str());
  return out;
}

std::optional<std::string> LineEditor::read_message(const std::string& prompt) {
  std::optional<std::string> first = read_line(prompt);
  if (!first) return std::nullopt;
  std::string message = std::move(*first);
  if (message == "\"\"\"") {
    message.clear();
    for (auto line = read_line("| "); line && *line != "\"\"\""; line = read_line("| ")) {
      message += (message.empty() ? "" : "\n") + *line;
    }
    return message;
  }
  while (message.ends_with('\\')) {
    message.back() = '\n';
    const auto line = read_line("| ");
    if (!line) break;
    message += *line;
  }
  return message;
}

}  // namespace tandem::cli
