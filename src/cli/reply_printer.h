#pragma once

#include <string_view>

#include "base/result.h"
#include "text/reply/reply.h"

namespace tandem::cli {

/// Shows a reply to a person while it comes in: content as it is, reasoning set apart, tool calls
/// on lines of their own.
///
///   (thinking) The user wants ...
///   Here is the song.
///   tool call: play_music({"query": "Arirang"})
class ReplyPrinter {
 public:
  /// `styled`: reasoning is dim, as terminals can show it; otherwise a word announces it.
  explicit ReplyPrinter(bool styled) : styled_(styled) {}

  void print(const ReplyDelta& delta);
  /// Ends the last line. Call once, also after an error.
  void finish();

  /// The first error of writing; nothing is written after it.
  const Result<void>& outcome() const { return outcome_; }

 private:
  enum class Part { kNone, kContent, kReasoning, kCall };
  void enter(Part part);
  void leave();
  void end_call(const ReplyDelta& delta);
  void write(std::string_view text);

  bool styled_;
  Part part_ = Part::kNone;
  bool at_line_start_ = true;
  Result<void> outcome_;
};

}  // namespace tandem::cli
