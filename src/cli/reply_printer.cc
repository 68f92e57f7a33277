// A reply on the screen, taken apart.

#include "cli/reply_printer.h"

#include "cli/command.h"

namespace tandem::cli {
namespace {

constexpr std::string_view kDim = "\033[2m";
constexpr std::string_view kPlain = "\033[0m";

}  // namespace

void ReplyPrinter::write(std::string_view text) {
  if (text.empty() || !outcome_) return;
  at_line_start_ = text.back() == '\n';
  outcome_ = write_output(text);
}

void ReplyPrinter::leave() {
  if (part_ == Part::kReasoning && styled_ && outcome_) outcome_ = write_output(kPlain);
  if (!at_line_start_) write("\n");
  part_ = Part::kNone;
}

void ReplyPrinter::enter(Part part) {
  if (part_ == part) return;
  leave();
  part_ = part;
  if (part == Part::kCall) write("tool call: ");
  if (part != Part::kReasoning) return;
  if (styled_ && outcome_) {
    outcome_ = write_output(kDim);
  } else {
    write("(thinking) ");
  }
}

void ReplyPrinter::print(const ReplyDelta& delta) {
  switch (delta.kind) {
    case ReplyDelta::Kind::kContent:
      enter(Part::kContent);
      return write(delta.text);
    case ReplyDelta::Kind::kReasoning:
      enter(Part::kReasoning);
      return write(delta.text);
    case ReplyDelta::Kind::kCallStart:
      leave();
      enter(Part::kCall);
      write(delta.text);
      return write("(");
    case ReplyDelta::Kind::kCallArguments:
      return write(delta.text);
    case ReplyDelta::Kind::kCallEnd:
      return end_call(delta);
  }
}

void ReplyPrinter::end_call(const ReplyDelta& delta) {
  enter(Part::kCall);
  if (delta.state == CallState::kComplete) {
    write(")");
  } else {
    write(delta.state == CallState::kIncomplete ? " ... [cut off] " : " ... [not a valid call] ");
    write(delta.text);
  }
  leave();
}

void ReplyPrinter::finish() { leave(); }

}  // namespace tandem::cli
