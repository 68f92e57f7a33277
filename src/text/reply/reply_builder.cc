// Turns what the parsers find into a message and its deltas.

#include "text/reply/reply_builder.h"

#include "text/reply/marker.h"

namespace tandem {

const char* to_string(CallState state) {
  switch (state) {
    case CallState::kComplete:
      return "complete";
    case CallState::kIncomplete:
      return "incomplete";
    case CallState::kBroken:
      return "broken";
  }
  return "unknown";
}

namespace {

/// Splits off the white space at the end.
std::string_view take_trailing_space(std::string_view& text) {
  size_t n = text.size();
  while (n > 0 && is_space(text[n - 1])) --n;
  const std::string_view space = text.substr(n);
  text = text.substr(0, n);
  return space;
}

}  // namespace

void ReplyBuilder::add_text(ReplyDelta::Kind kind, std::string& to, std::string_view text) {
  if (text.empty()) return;
  to.append(text);
  if (!deltas_.empty() && deltas_.back().kind == kind) {
    deltas_.back().text.append(text);
  } else {
    deltas_.push_back({.kind = kind, .text = std::string(text)});
  }
}

void ReplyBuilder::content(std::string_view text) {
  const std::string_view space = take_trailing_space(text);
  if (text.empty()) {
    content_space_.append(space);
    return;
  }
  const bool drops_space = message_.content.empty() && is_beside_structure_;
  if (drops_space) text.remove_prefix(text.size() - trim(text).size());
  if (!drops_space) add_text(ReplyDelta::Kind::kContent, message_.content, content_space_);
  add_text(ReplyDelta::Kind::kContent, message_.content, text);
  content_space_ = space;
  is_beside_structure_ = false;
}

void ReplyBuilder::release_space() {
  if (is_beside_structure_) return;
  add_text(ReplyDelta::Kind::kContent, message_.content, content_space_);
  content_space_.clear();
}

void ReplyBuilder::open_reasoning() {
  boundary();
  reasoning_space_.clear();
  is_block_empty_ = true;
  message_.is_reasoning_open = true;
}

void ReplyBuilder::reasoning(std::string_view text) {
  const std::string_view space = take_trailing_space(text);
  if (text.empty()) {
    reasoning_space_.append(space);
    return;
  }
  if (is_block_empty_) {
    text.remove_prefix(text.size() - trim(text).size());
    reasoning_space_ = message_.reasoning.empty() ? "" : "\n";
    is_block_empty_ = false;
  }
  add_text(ReplyDelta::Kind::kReasoning, message_.reasoning, reasoning_space_);
  add_text(ReplyDelta::Kind::kReasoning, message_.reasoning, text);
  reasoning_space_ = space;
}

void ReplyBuilder::close_reasoning() {
  boundary();
  message_.is_reasoning_open = false;
}

void ReplyBuilder::start_call(std::string_view name, std::string_view id) {
  boundary();
  is_call_started_ = true;
  message_.tool_calls.push_back({.id = std::string(id), .name = std::string(name)});
  deltas_.push_back({.kind = ReplyDelta::Kind::kCallStart,
                     .text = std::string(name),
                     .call = message_.tool_calls.size() - 1,
                     .id = std::string(id)});
  add_arguments(std::exchange(early_arguments_, {}));
}

void ReplyBuilder::add_arguments(std::string_view json) {
  if (json.empty()) return;
  message_.tool_calls.back().arguments.append(json);
  if (!deltas_.empty() && deltas_.back().kind == ReplyDelta::Kind::kCallArguments) {
    deltas_.back().text.append(json);
    return;
  }
  deltas_.push_back({.kind = ReplyDelta::Kind::kCallArguments,
                     .text = std::string(json),
                     .call = message_.tool_calls.size() - 1});
}

void ReplyBuilder::arguments(std::string_view json) {
  if (is_call_started_) return add_arguments(json);
  early_arguments_.append(json);
}

void ReplyBuilder::set_late_id(std::string_view id) { message_.tool_calls.back().id = id; }

void ReplyBuilder::end_call(CallState state, std::string raw) {
  boundary();
  if (!is_call_started_) {
    message_.tool_calls.push_back({.arguments = std::exchange(early_arguments_, {})});
  }
  is_call_started_ = false;
  ToolCall& call = message_.tool_calls.back();
  call.state = state;
  if (state != CallState::kComplete) call.raw = std::move(raw);
  deltas_.push_back({.kind = ReplyDelta::Kind::kCallEnd,
                     .text = call.raw,
                     .call = message_.tool_calls.size() - 1,
                     .id = call.id,
                     .state = state});
}

void ReplyBuilder::finish() { release_space(); }

}  // namespace tandem
