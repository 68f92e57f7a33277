// Reading messages, with editing at a terminal.

#include "cli/line_editor.h"

#include <editline/readline.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <filesystem>
#include <iostream>

#include "cli/command.h"
#include "cli/interrupt.h"

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

/// The next character of standard input; -1 at its end and after Ctrl-C. The editor's own reading
/// would go on after a signal.
int read_character(std::FILE*) {
  std::mbstate_t state{};
  for (;;) {
    char byte = 0;
    if (read(STDIN_FILENO, &byte, 1) != 1) return -1;
    wchar_t character = 0;
    const size_t outcome = std::mbrtowc(&character, &byte, 1, &state);
    if (outcome == static_cast<size_t>(-1)) state = {};  // no character: skip the byte
    if (outcome <= 1) return static_cast<int>(character);
  }
}

}  // namespace

LineEditor::LineEditor() : terminal_(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
  if (!terminal_) return;
  // Editing needs to know where characters begin, also when the locale is unset.
  std::setlocale(LC_CTYPE, "");
  if (MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
  static char program_name[] = "tandem";
  rl_readline_name = program_name;
  rl_getc_function = read_character;
  using_history();
  stifle_history(kHistoryLines);
  history_file_ = history_path();
  if (!history_file_.empty()) read_history(history_file_.c_str());
}

void LineEditor::remember(const std::string& line) {
  if (line.empty()) return;
  add_history(line.c_str());
  // At once: the program may be ended by a signal.
  if (!history_file_.empty()) write_history(history_file_.c_str());
}

LineEditor::Status LineEditor::read_edited_line(const std::string& prompt, std::string& line) {
  const PromptInterruptScope interrupt;
  char* text = readline(prompt.c_str());
  if (text == nullptr) return interrupt.interrupted() ? Status::kInterrupted : Status::kEnd;
  line = text;
  std::free(text);
  if (interrupt.interrupted()) return Status::kInterrupted;
  remember(line);
  return Status::kLine;
}

LineEditor::Status LineEditor::read_line(const std::string& prompt, std::string& line) {
  if (terminal_) return read_edited_line(prompt, line);
  return std::getline(std::cin, line) ? Status::kLine : Status::kEnd;
}

LineEditor::Status LineEditor::read_whole_message(const std::string& prompt, std::string& message) {
  Status status = read_line(prompt, message);
  std::string line;
  if (status == Status::kLine && message == "\"\"\"") {
    message.clear();
    for (bool first = true; (status = read_line("| ", line)) == Status::kLine; first = false) {
      if (line == "\"\"\"") break;
      message += (first ? "" : "\n") + line;
    }
    // The end of input ends the text as well.
    return status == Status::kInterrupted ? status : Status::kLine;
  }
  while (status == Status::kLine && message.ends_with('\\')) {
    message.back() = '\n';
    status = read_line("| ", line);
    if (status == Status::kEnd) return Status::kLine;
    message += line;
  }
  return status;
}

std::optional<std::string> LineEditor::read_message(const std::string& prompt) {
  std::string message;
  for (;;) {
    const Status status = read_whole_message(prompt, message);
    if (status == Status::kLine) return message;
    if (status == Status::kEnd) return std::nullopt;
    write_note("\n");
  }
}

}  // namespace tandem::cli
