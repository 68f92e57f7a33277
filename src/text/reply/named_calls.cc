// Tool calls whose name stands before their JSON arguments.

#include "text/reply/named_calls.h"

#include <array>

namespace tandem {

NamedCalls::NamedCalls(const CallRegion& region, const CallContext& context)
    : RegionParser(region, context),
      state_(region.words.call_begin.empty() ? State::kName : State::kBetween) {}

NamedCalls::Step NamedCalls::go(State state) {
  state_ = state;
  return Step::kAgain;
}

NamedCalls::Step NamedCalls::step(ReplyText& in, ReplyBuilder& out) {
  switch (state_) {
    case State::kBetween:
      return between(in);
    case State::kName:
      return read_name(in, out);
    case State::kId:
      return read_id(in, out);
    case State::kSecondName:
      return read_second_name(in, out);
    case State::kFence: {
      in.skip_space();
      const ReplyText::Match fence = in.take_if("```json");
      if (fence == ReplyText::Match::kNeedsText) return Step::kNeedsText;
      has_fence_ = fence == ReplyText::Match::kYes;
      return go(State::kArguments);
    }
    case State::kArguments:
      return read_arguments(in, out);
    case State::kAfterArguments: {
      if (!has_fence_) return go(State::kAfterFence);
      in.skip_space();
      if (in.take_if("```") == ReplyText::Match::kNeedsText) return Step::kNeedsText;
      return go(State::kAfterFence);
    }
    case State::kAfterFence:
      break;
  }
  return after_arguments(in, out);
}

NamedCalls::Step NamedCalls::between(ReplyText& in) {
  in.skip_space();
  const ReplyText::Match end = take_end(in);
  if (end == ReplyText::Match::kYes) return Step::kDone;
  const ReplyText::Match begin = in.take_if(region_.words.call_begin);
  if (begin == ReplyText::Match::kNo) {
    return end == ReplyText::Match::kNeedsText ? Step::kNeedsText : Step::kBreak;
  }
  if (begin == ReplyText::Match::kNeedsText) return Step::kNeedsText;
  name_.clear();
  id_.clear();
  return go(State::kName);
}

NamedCalls::Step NamedCalls::read_name(ReplyText& in, ReplyBuilder& out) {
  std::vector<std::string_view> ends = region_.words.name_ends;
  ends.push_back(region_.words.call_end);  // a call without arguments is broken, not endless
  const MarkerHit hit = in.take_until(ends, name_);
  if (hit.index == MarkerHit::kNone) return Step::kNeedsText;
  const std::string_view marker = ends[hit.index];
  if (hit.index + 1 == ends.size()) return Step::kBreak;
  if (marker != "{") in.take(marker.size());
  if (marker == "[CALL_ID]") return go(State::kId);
  if (marker == "<｜tool▁sep｜>") return go(State::kSecondName);
  return start(out);
}

NamedCalls::Step NamedCalls::read_id(ReplyText& in, ReplyBuilder& out) {
  const std::array<std::string_view, 1> ends{"[ARGS]"};
  if (in.take_until(ends, id_).index == MarkerHit::kNone) return Step::kNeedsText;
  in.take(ends[0].size());
  return start(out);
}

/// DeepSeek R1 writes `function<sep>name\n` and fenced JSON, V3.1 `name<sep>{...}`.
NamedCalls::Step NamedCalls::read_second_name(ReplyText& in, ReplyBuilder& out) {
  if (in.is_empty()) return Step::kNeedsText;
  const bool is_first = id_.empty();
  if (is_first && in.rest().front() == '{') return start(out);
  const std::array<std::string_view, 1> ends{"\n"};
  const MarkerHit hit = in.take_until(ends, id_);
  if (hit.index == MarkerHit::kNone) return Step::kNeedsText;
  name_ = std::exchange(id_, {});
  return start(out);
}

/// Kimi's name is an id too: functions.get_weather:0.
NamedCalls::Step NamedCalls::start(ReplyBuilder& out) {
  std::string_view name = trim(name_);
  if (name.starts_with("functions.")) {
    if (id_.empty()) id_ = name;
    name.remove_prefix(std::string_view("functions.").size());
    name = name.substr(0, name.rfind(':'));
  }
  if (name.empty()) return Step::kBreak;
  out.start_call(name, trim(id_));
  arguments_.reset();
  return go(State::kFence);
}

NamedCalls::Step NamedCalls::read_arguments(ReplyText& in, ReplyBuilder& out) {
  switch (arguments_.read(in, out)) {
    case ArgumentsReader::Status::kNeedsText:
      return Step::kNeedsText;
    case ArgumentsReader::Status::kBroken:
      return Step::kBreak;
    case ArgumentsReader::Status::kDone:
      break;
  }
  return go(State::kAfterArguments);
}

NamedCalls::Step NamedCalls::after_arguments(ReplyText& in, ReplyBuilder& out) {
  if (region_.words.call_end.empty()) {
    complete_call(in, out);
    state_ = State::kBetween;
    return Step::kDone;
  }
  in.skip_space();
  const ReplyText::Match end = in.take_if(region_.words.call_end);
  if (end == ReplyText::Match::kNeedsText) return Step::kNeedsText;
  if (end == ReplyText::Match::kNo) return Step::kBreak;
  complete_call(in, out);
  return go(State::kBetween);
}

void NamedCalls::before_finish(ReplyText& in, ReplyBuilder& out) {
  if (state_ != State::kAfterArguments && state_ != State::kAfterFence) return;
  complete_call(in, out);
  state_ = State::kBetween;
}

CallParser::Status HeaderCall::end(CallState state, ReplyText& in, ReplyBuilder& out) {
  out.end_call(state, in.take_record());
  return Status::kDone;
}

CallParser::Status HeaderCall::parse(ReplyText& in, ReplyBuilder& out) {
  if (!is_started_) {
    out.start_call(name_, "");
    is_started_ = true;
  }
  return is_rest_ ? read_rest(in, out) : read_json(in, out);
}

CallParser::Status HeaderCall::read_json(ReplyText& in, ReplyBuilder& out) {
  auto status = is_json_done_ ? ArgumentsReader::Status::kDone : arguments_.read(in, out);
  if (status == ArgumentsReader::Status::kDone) {
    is_json_done_ = true;
    in.skip_space();
    const MarkerHit hit = find_marker(in.rest(), ends_, in.is_final());
    const bool at_end = hit.position == 0 && hit.index != MarkerHit::kNone;
    if (at_end || (in.is_empty() && in.is_final())) return end(CallState::kComplete, in, out);
    if (hit.position == 0) return Status::kNeedsText;
    status = ArgumentsReader::Status::kBroken;
  }
  if (status == ArgumentsReader::Status::kBroken) {
    is_rest_ = true;
    return read_rest(in, out);
  }
  return in.is_final() ? end(CallState::kIncomplete, in, out) : Status::kNeedsText;
}

/// Programs for the tool "python" come bare; anything else here is a broken call.
CallParser::Status HeaderCall::read_rest(ReplyText& in, ReplyBuilder& out) {
  const MarkerHit hit = in.take_until(ends_, rest_);
  const bool is_over = hit.index != MarkerHit::kNone;
  if (!is_over && !in.is_final()) return Status::kNeedsText;
  if (name_ != "python" || is_json_done_ || arguments_.has_started()) {
    return end(CallState::kBroken, in, out);
  }
  std::string json = "{\"code\": ";
  append_json_string(json, trim(rest_));
  out.arguments(json + "}");
  const bool is_whole = is_over || !context_.is_cut_off;
  return end(is_whole ? CallState::kComplete : CallState::kIncomplete, in, out);
}

}  // namespace tandem
