#pragma once

#include <optional>
#include <string>

namespace tandem::cli {

/// Reads lines from a terminal with editing and a history that lasts between runs, or plain lines
/// from a pipe. One at a time.
class LineEditor {
 public:
  /// The history is kept in $XDG_STATE_HOME/tandem/history, or ~/.local/state; without a home
  /// directory it is not kept.
  LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  /// A message: a line, lines joined while each ends with a backslash, or everything between two
  /// lines that hold only """. Nothing at the end of input. At a terminal Ctrl-C drops what was
  /// typed so far and begins anew.
  std::optional<std::string> read_message(const std::string& prompt);

  bool is_terminal() const { return terminal_; }

 private:
  enum class Status { kLine, kEnd, kInterrupted };
  Status read_line(const std::string& prompt, std::string& line);
  Status read_edited_line(const std::string& prompt, std::string& line);
  Status read_whole_message(const std::string& prompt, std::string& message);
  void remember(const std::string& line);

  bool terminal_;
  std::string history_file_;
};

}  // namespace tandem::cli
