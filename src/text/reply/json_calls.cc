// Tool calls that are JSON objects.

#include "text/reply/json_calls.h"

namespace tandem {

JsonCalls::JsonCalls(const CallRegion& region, const CallContext& context)
    : RegionParser(region, context), in_list_(region.begin.ends_with('[')) {}

JsonCalls::Step JsonCalls::go(State state) {
  state_ = state;
  return Step::kAgain;
}

JsonCalls::Role JsonCalls::role_of(const std::string& key) const {
  if (key == "name" || key == "tool_name") return Role::kName;
  if (key == "id" || key == "tool_call_id" || key == "call_id") return Role::kId;
  if (key == "arguments" || key == "parameters" || key == "args") return Role::kArguments;
  return key == "function" ? Role::kFunction : Role::kOther;
}

bool JsonCalls::is_inside_call() const {
  if (state_ == State::kBetween || state_ == State::kAfterList) return false;
  return !context_.is_tentative || has_name_ || n_calls_ > 0;
}

void JsonCalls::before_finish(ReplyText& in, ReplyBuilder& out) {
  if (state_ == State::kAfterObject) {
    complete_call(in, out);
    state_ = State::kBetween;
  } else if (is_inside_call() && has_name_ && !out.is_call_started()) {
    out.start_call(name_, id_);
  }
}

void JsonCalls::begin_object() {
  name_.clear();
  id_.clear();
  has_name_ = has_arguments_ = in_function_ = false;
  may_close_ = true;
}

JsonCalls::Step JsonCalls::step(ReplyText& in, ReplyBuilder& out) {
  if (state_ == State::kAfterList && region_.end.empty()) return Step::kDone;
  const bool is_inside_value =
      state_ == State::kInKey || state_ == State::kInValue || state_ == State::kInArguments;
  if (!is_inside_value) in.skip_space();
  if (in.is_empty()) return Step::kNeedsText;
  switch (state_) {
    case State::kBetween:
      return between(in);
    case State::kKey:
      return key(in, out);
    case State::kInKey: {
      const Step read = read_token(in);
      return read == Step::kDone ? go(State::kColon) : read;
    }
    case State::kColon:
      if (in.take(1) != ":") return Step::kBreak;
      return go(State::kValue);
    case State::kValue:
      return begin_value(in, out);
    case State::kInValue:
      return read_value(in, out);
    case State::kInArguments:
      return read_arguments(in, out);
    case State::kAfterValue:
      return after_value(in, out);
    case State::kAfterObject:
      return after_object(in, out);
    case State::kAfterList:
      break;
  }
  const ReplyText::Match end = take_end(in);
  if (end == ReplyText::Match::kYes) return Step::kDone;
  return end == ReplyText::Match::kNo ? Step::kBreak : Step::kNeedsText;
}

/// Before an object, a list, or the end of the region.
JsonCalls::Step JsonCalls::between(ReplyText& in) {
  const char c = in.rest().front();
  if (c == '{') {
    in.take(1);
    begin_object();
    return go(State::kKey);
  }
  const bool separates = (c == ',' && in_list_) || c == ';';
  if ((separates && n_calls_ > 0) || (c == '[' && !in_list_)) {
    in_list_ |= c == '[';
    in.take(1);
    return Step::kAgain;
  }
  if (c == ']' && in_list_) {
    in.take(1);
    return go(State::kAfterList);
  }
  const ReplyText::Match end = take_end(in);
  if (end == ReplyText::Match::kYes) return Step::kDone;
  if (end == ReplyText::Match::kNeedsText) return Step::kNeedsText;
  const bool ends_here = region_.end.empty() && n_calls_ > 0 && !in_list_;
  return ends_here ? Step::kDone : Step::kBreak;
}

JsonCalls::Step JsonCalls::key(ReplyText& in, ReplyBuilder& out) {
  const char c = in.rest().front();
  if (c == '}' && may_close_) {
    in.take(1);
    return close_object(out);
  }
  if (c != '"') return Step::kBreak;
  token_.clear();
  scanner_.reset();
  return go(State::kInKey);
}

/// Reads a key or value into token_; kDone at its end. The end of a number is seen at the character
/// after it, which stays.
JsonCalls::Step JsonCalls::read_token(ReplyText& in) {
  const std::string_view text = in.rest();
  auto step = JsonScanner::Step::kMore;
  size_t n = 0;
  while (n < text.size() && step == JsonScanner::Step::kMore) step = scanner_.feed(text[n++]);
  if (step == JsonScanner::Step::kEndBefore) --n;
  token_.append(in.take(n));
  if (step == JsonScanner::Step::kMore) return Step::kNeedsText;
  return step == JsonScanner::Step::kError ? Step::kBreak : Step::kDone;
}

JsonCalls::Step JsonCalls::begin_value(ReplyText& in, ReplyBuilder& out) {
  const std::string key = decode_json_string(token_);
  role_ = role_of(key);
  if (region_.key_is_name) {
    role_ = Role::kArguments;
    if (set_name(key, out) == Step::kBreak) return Step::kBreak;
  }
  if (role_ == Role::kArguments) {
    if (has_arguments_) return Step::kBreak;
    has_arguments_ = true;
    arguments_.reset();
    start_if_ready(out);
    return go(State::kInArguments);
  }
  if (role_ == Role::kFunction && in.rest().front() == '{' && !in_function_) {
    in.take(1);
    in_function_ = may_close_ = true;
    return go(State::kKey);
  }
  if (role_ == Role::kOther && context_.is_tentative && key != "type") return Step::kBreak;
  token_.clear();
  scanner_.reset();
  return go(State::kInValue);
}

JsonCalls::Step JsonCalls::read_value(ReplyText& in, ReplyBuilder& out) {
  const Step read = read_token(in);
  return read == Step::kDone ? use_value(out) : read;
}

JsonCalls::Step JsonCalls::use_value(ReplyBuilder& out) {
  state_ = State::kAfterValue;
  if (role_ == Role::kOther) return Step::kAgain;
  const bool is_string = token_.starts_with('"');
  if (role_ == Role::kId) {
    id_ = is_string ? decode_json_string(token_) : token_;
    if (out.is_call_started()) out.set_late_id(id_);
    return Step::kAgain;
  }
  return is_string ? set_name(decode_json_string(token_), out) : Step::kBreak;
}

JsonCalls::Step JsonCalls::set_name(std::string name, ReplyBuilder& out) {
  if (has_name_ || name.empty()) return Step::kBreak;
  has_name_ = true;
  name_ = std::move(name);
  if (context_.is_tentative && !context_.tools->is_empty() && !context_.tools->has_tool(name_)) {
    return Step::kBreak;
  }
  start_if_ready(out);
  return Step::kAgain;
}

/// A call starts when its name is known; a tentative one when it has arguments too, because a
/// person's {"name": ...} is no call.
void JsonCalls::start_if_ready(ReplyBuilder& out) {
  if (out.is_call_started() || !has_name_) return;
  if (has_arguments_ || !context_.is_tentative) out.start_call(name_, id_);
}

JsonCalls::Step JsonCalls::read_arguments(ReplyText& in, ReplyBuilder& out) {
  switch (arguments_.read(in, out)) {
    case ArgumentsReader::Status::kNeedsText:
      return Step::kNeedsText;
    case ArgumentsReader::Status::kBroken:
      return Step::kBreak;
    case ArgumentsReader::Status::kDone:
      break;
  }
  return go(State::kAfterValue);
}

JsonCalls::Step JsonCalls::after_value(ReplyText& in, ReplyBuilder& out) {
  const std::string_view c = in.take(1);
  if (c == "}") return close_object(out);
  if (c != ",") return Step::kBreak;
  may_close_ = false;
  return go(State::kKey);
}

JsonCalls::Step JsonCalls::close_object(ReplyBuilder& out) {
  if (in_function_) {
    in_function_ = false;
    return go(State::kAfterValue);
  }
  if (!has_name_ || (context_.is_tentative && !has_arguments_)) return Step::kBreak;
  if (!out.is_call_started()) out.start_call(name_, id_);
  if (!has_arguments_) out.arguments("{}");
  return go(State::kAfterObject);
}

/// The call counts as complete when what follows fits; a stray brace makes it broken.
JsonCalls::Step JsonCalls::after_object(ReplyText& in, ReplyBuilder& out) {
  const char c = in.rest().front();
  const bool fits =
      c == ',' || c == ';' || c == ']' || c == '{' || (region_.end.empty() && !in_list_);
  if (!fits) {
    const ReplyText::Match end = take_end(in);
    if (end == ReplyText::Match::kNeedsText) return Step::kNeedsText;
    const bool next_begins = !region_.begin.empty() && in.rest().starts_with(region_.begin);
    if (end == ReplyText::Match::kNo && !next_begins) {
      // Less text than the begin marker may still become one.
      const bool may_begin = region_.begin.starts_with(in.rest());
      return may_begin ? Step::kNeedsText : Step::kBreak;
    }
    complete_call(in, out);
    return Step::kDone;
  }
  complete_call(in, out);
  return go(State::kBetween);
}

}  // namespace tandem
