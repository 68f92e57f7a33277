// Tool calls written in Python.

#include "text/reply/python_calls.h"

#include <array>
#include <utility>
#include <vector>

#include "text/reply/json_scanner.h"

namespace tandem {
namespace {

constexpr size_t kLongestName = 256;  // bytes

}  // namespace

bool PythonCalls::is_inside_call() const {
  if (state_ == State::kName) return !context_.is_tentative || n_calls_ > 0;
  return state_ == State::kArguments;
}

void PythonCalls::before_finish(ReplyText&, ReplyBuilder& out) {
  if (state_ == State::kArguments && !out.is_call_started()) out.start_call(name_, "");
}

PythonCalls::Step PythonCalls::step(ReplyText& in, ReplyBuilder& out) {
  if (state_ == State::kArguments) return read_arguments(in, out);
  if (state_ == State::kName) return read_name(in, out);
  if (state_ == State::kAfterList && region_.end.empty()) return Step::kDone;
  in.skip_space();
  if (in.is_empty()) return Step::kNeedsText;
  if (state_ == State::kBetween) return between(in);
  const ReplyText::Match end = take_end(in);
  if (end == ReplyText::Match::kYes) return Step::kDone;
  return end == ReplyText::Match::kNeedsText ? Step::kNeedsText : Step::kBreak;
}

PythonCalls::Step PythonCalls::between(ReplyText& in) {
  const char c = in.rest().front();
  if (c == '[' && !in_list_ && n_calls_ == 0) {
    in_list_ = true;
    in.take(1);
    return Step::kAgain;
  }
  if (c == ']' && in_list_) {
    in.take(1);
    state_ = State::kAfterList;
    return Step::kAgain;
  }
  if ((c == ',' || c == ';') && n_calls_ > 0) {
    in.take(1);
    return Step::kAgain;
  }
  const ReplyText::Match end = take_end(in);
  if (end == ReplyText::Match::kYes) return Step::kDone;
  if (end == ReplyText::Match::kNeedsText) return Step::kNeedsText;
  if (python_name_length(in.rest()) == 0) return Step::kBreak;
  name_.clear();
  state_ = State::kName;
  return Step::kAgain;
}

PythonCalls::Step PythonCalls::read_name(ReplyText& in, ReplyBuilder& out) {
  const std::array<std::string_view, 1> ends{"("};
  // Anything but a name before the bracket shows at once that this is no call.
  const std::string so_far = name_ + std::string(in.rest());
  const size_t n = python_name_length(so_far);
  const std::string_view after = std::string_view(so_far).substr(n);
  const bool is_name = n > 0 && n <= kLongestName;
  if (!is_name || (!trim(after).empty() && trim(after).front() != '(')) return Step::kBreak;
  if (in.take_until(ends, name_).index == MarkerHit::kNone) return Step::kNeedsText;
  in.take(1);
  name_ = trim(name_);
  if (context_.is_tentative && !context_.tools->is_empty() && !context_.tools->has_tool(name_)) {
    return Step::kBreak;
  }
  if (!context_.is_tentative) out.start_call(name_, "");
  arguments_.clear();
  scanner_ = {};
  state_ = State::kArguments;
  return Step::kAgain;
}

PythonCalls::Step PythonCalls::read_arguments(ReplyText& in, ReplyBuilder& out) {
  const std::string_view text = in.rest();
  bool is_closed = false;
  size_t n = 0;
  while (n < text.size() && !is_closed) is_closed = scanner_.feed(text[n++]);
  arguments_.append(in.take(n));
  if (!is_closed) return Step::kNeedsText;
  const bool is_round = arguments_.back() == ')';
  arguments_.pop_back();
  std::string json;
  if (!is_round || !append_python_arguments(json, arguments_)) return Step::kBreak;
  if (!out.is_call_started()) out.start_call(name_, "");
  out.arguments(json);
  complete_call(in, out);
  state_ = State::kBetween;
  return Step::kAgain;
}

CallParser::Status CodeRegion::parse(ReplyText& in, ReplyBuilder& out) {
  const std::array ends{region_.end};
  const MarkerHit hit = in.take_until(ends, code_);
  const bool is_ended = hit.index != MarkerHit::kNone;
  if (!is_ended && !in.is_final()) return Status::kNeedsText;
  if (is_ended) in.take(region_.end.size());
  const bool may_be_whole = is_ended || region_.end.empty();
  if (may_be_whole && emit_calls(in, out)) return Status::kDone;
  if (trim(code_).empty()) {
    out.end_call(is_ended ? CallState::kBroken : CallState::kIncomplete, in.take_record());
    return Status::kDone;
  }
  std::string json = "{\"code\": ";
  append_json_string(json, trim(code_));
  out.start_call("python", "");
  out.arguments(json + "}");
  // A program without an end marker is whole if the model ended the reply itself.
  const bool is_whole = is_ended || (may_be_whole && !context_.is_cut_off);
  out.end_call(is_whole ? CallState::kComplete : CallState::kIncomplete, in.take_record());
  return Status::kDone;
}

namespace {

/// Takes the bracketed text after a call's opening bracket; false if it does not close.
bool take_bracketed(std::string_view& text, std::string_view& inside) {
  PythonScanner scanner;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!scanner.feed(text[i])) continue;
    inside = text.substr(0, i);
    text.remove_prefix(i + 1);
    return true;
  }
  return false;
}

/// Takes "name(" from the front; the name, or nothing.
std::string_view take_name(std::string_view& text) {
  const std::string_view name = text.substr(0, python_name_length(text));
  const std::string_view after = text.substr(name.size());
  if (name.empty() || !after.starts_with('(')) return {};
  text.remove_prefix(name.size() + 1);
  return name;
}

}  // namespace

/// Calls when the whole region is nothing else; otherwise nothing is emitted.
bool CodeRegion::emit_calls(ReplyText& in, ReplyBuilder& out) const {
  std::vector<std::pair<std::string_view, std::string>> calls;  // name, arguments
  for (std::string_view text = trim(code_); !text.empty();) {
    std::string_view name = take_name(text), inside;
    if (name.empty() || !take_bracketed(text, inside)) return false;
    if (name == "print") {
      std::string_view printed = trim(inside);
      name = take_name(printed);
      if (name.empty() || !take_bracketed(printed, inside) || !trim(printed).empty()) return false;
    }
    if (name.ends_with(".call")) name.remove_suffix(std::string_view(".call").size());
    std::string json;
    if (!append_python_arguments(json, inside)) return false;
    calls.emplace_back(name, std::move(json));
    text = trim(text);
    if (text.starts_with(',') || text.starts_with(';')) text = trim(text.substr(1));
  }
  in.take_record();
  for (const auto& [name, json] : calls) {
    out.start_call(name, "");
    out.arguments(json);
    out.end_call(CallState::kComplete, {});
  }
  return !calls.empty();
}

}  // namespace tandem
