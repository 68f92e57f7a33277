// Tool calls in tags.

#include "text/reply/tagged_calls.h"

#include <array>

#include "text/reply/python_literal.h"

namespace tandem {
namespace {

/// A value without the line ends that stand between it and its tags.
std::string_view inner_value(std::string_view text) {
  if (text.starts_with('\n')) text.remove_prefix(1);
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

/// Values that cannot be strings by their look: numbers, true, false, null, lists and objects, the
/// latter also as Python prints them. A quoted text is a string that has quotes in it.
bool append_plain_value(std::string& out, std::string_view text) {
  text = trim(text);
  if (text.empty() || text.front() == '"' || text.front() == '\'') return false;
  if (is_json(text)) {
    out.append(text);
    return true;
  }
  const bool may_be_python = text.front() == '{' || text.front() == '[' || text == "None" ||
                             text == "True" || text == "False";
  return may_be_python && append_python_value(out, text);
}

enum class ValueKind { kUnknown, kString, kJson };

ValueKind kind_in(std::string_view attributes) {
  const auto says = [&](std::string_view word) {
    return attributes.find(word) != std::string_view::npos;
  };
  if (says("string=\"true\"") || says("type=\"string\"")) return ValueKind::kString;
  if (says("string=\"false\"") || says("type=\"")) return ValueKind::kJson;
  return ValueKind::kUnknown;
}

}  // namespace

TaggedCalls::TaggedCalls(const CallRegion& region, const CallContext& context)
    : RegionParser(region, context),
      words_(region.words),
      is_single_(region.begin == region.words.call_begin),
      state_(is_single_ ? State::kName : State::kBetween) {}

TaggedCalls::Step TaggedCalls::go(State state) {
  state_ = state;
  return Step::kAgain;
}

TaggedCalls::Step TaggedCalls::step(ReplyText& in, ReplyBuilder& out) {
  switch (state_) {
    case State::kBetween:
      return between(in);
    case State::kName:
      return read_name(in, out);
    case State::kNameAttributes: {
      const Step read = read_attributes(in, State::kParameters);
      return read == Step::kAgain ? start(out) : read;
    }
    case State::kParameters:
      return parameters(in, out);
    case State::kKey:
      return read_key(in);
    case State::kKeyAttributes:
      return read_attributes(in, State::kBeforeValue);
    case State::kBeforeValue:
      return before_value(in);
    case State::kValue:
      return read_value(in, out);
    case State::kJson:
      return read_json(in, out);
    case State::kAfterJson:
      break;
  }
  in.skip_space();
  const ReplyText::Match end = in.take_if(words_.call_end);
  if (end == ReplyText::Match::kNeedsText) return Step::kNeedsText;
  return end == ReplyText::Match::kYes ? end_call(in, out) : Step::kBreak;
}

void TaggedCalls::begin_call() {
  name_.clear();
  attributes_.clear();
  n_parameters_ = 0;
}

TaggedCalls::Step TaggedCalls::between(ReplyText& in) {
  in.skip_space();
  const ReplyText::Match end = take_end(in);
  if (end == ReplyText::Match::kYes) return Step::kDone;
  const ReplyText::Match begin = in.take_if(words_.call_begin);
  if (begin == ReplyText::Match::kYes) {
    begin_call();
    return go(State::kName);
  }
  const bool may_follow =
      end == ReplyText::Match::kNeedsText || begin == ReplyText::Match::kNeedsText;
  return may_follow ? Step::kNeedsText : Step::kBreak;
}

TaggedCalls::Step TaggedCalls::read_name(ReplyText& in, ReplyBuilder& out) {
  std::vector<std::string_view> ends = words_.name_ends;
  const size_t n_taken = ends.size();
  ends.push_back(words_.call_end);
  ends.push_back(words_.param_begin);
  const MarkerHit hit = in.take_until(ends, name_);
  if (hit.index == MarkerHit::kNone) return Step::kNeedsText;
  if (hit.index < n_taken) {
    in.take(ends[hit.index].size());
    if (!words_.attributes_end.empty()) return go(State::kNameAttributes);
  }
  return start(out);
}

TaggedCalls::Step TaggedCalls::read_attributes(ReplyText& in, State next) {
  const std::array ends{words_.attributes_end};
  if (in.take_until(ends, attributes_).index == MarkerHit::kNone) return Step::kNeedsText;
  in.take(words_.attributes_end.size());
  return go(next);
}

TaggedCalls::Step TaggedCalls::start(ReplyBuilder& out) {
  if (trim(name_).empty()) return Step::kBreak;
  out.start_call(trim(name_), "");
  return go(State::kParameters);
}

/// Before a parameter or the call's end. A repeated end tag of a parameter does no harm.
TaggedCalls::Step TaggedCalls::parameters(ReplyText& in, ReplyBuilder& out) {
  in.skip_space();
  if (in.is_empty()) return Step::kNeedsText;
  if (in.rest().front() == '{' && n_parameters_ == 0) {
    arguments_.reset();
    return go(State::kJson);
  }
  bool may_match = false;
  const auto take = [&](std::string_view word) {
    if (word.empty()) return false;
    const ReplyText::Match match = in.take_if(word);
    may_match |= match == ReplyText::Match::kNeedsText;
    return match == ReplyText::Match::kYes;
  };
  if (take(words_.param_begin)) {
    key_.clear();
    attributes_.clear();
    value_.clear();
    return go(State::kKey);
  }
  if (n_parameters_ > 0 && take(words_.param_end)) return Step::kAgain;
  const bool is_over = take(words_.call_end);
  if (is_over || (!region_.end.empty() && in.rest().starts_with(region_.end))) {
    out.arguments(n_parameters_ == 0 ? "{}" : "}");
    return end_call(in, out);
  }
  may_match |= !region_.end.empty() && region_.end.starts_with(in.rest());
  return may_match ? Step::kNeedsText : Step::kBreak;
}

TaggedCalls::Step TaggedCalls::end_call(ReplyText& in, ReplyBuilder& out) {
  complete_call(in, out);
  state_ = State::kBetween;
  return is_single_ ? Step::kDone : Step::kAgain;
}

TaggedCalls::Step TaggedCalls::read_key(ReplyText& in) {
  const std::array ends{words_.param_name_end};
  if (in.take_until(ends, key_).index == MarkerHit::kNone) return Step::kNeedsText;
  in.take(words_.param_name_end.size());
  if (trim(key_).empty()) return Step::kBreak;
  return go(words_.attributes_end.empty() ? State::kBeforeValue : State::kKeyAttributes);
}

TaggedCalls::Step TaggedCalls::before_value(ReplyText& in) {
  if (words_.value_begin.empty()) return go(State::kValue);
  in.skip_space();
  const ReplyText::Match begin = in.take_if(words_.value_begin);
  if (begin == ReplyText::Match::kNeedsText) return Step::kNeedsText;
  return begin == ReplyText::Match::kYes ? go(State::kValue) : Step::kBreak;
}

TaggedCalls::Step TaggedCalls::read_value(ReplyText& in, ReplyBuilder& out) {
  const std::array ends{words_.param_end};
  if (in.take_until(ends, value_).index == MarkerHit::kNone) return Step::kNeedsText;
  in.take(words_.param_end.size());
  add_parameter(out);
  return go(State::kParameters);
}

void TaggedCalls::add_parameter(ReplyBuilder& out) {
  std::string json = n_parameters_++ == 0 ? "{" : ", ";
  append_json_string(json, trim(key_));
  json += ": ";
  const std::string_view value = inner_value(value_);
  ValueKind kind = kind_in(attributes_);
  if (kind == ValueKind::kUnknown && context_.tools->is_string(trim(name_), trim(key_))) {
    kind = ValueKind::kString;
  }
  if (kind == ValueKind::kString || !append_plain_value(json, value)) {
    append_json_string(json, value);
  }
  out.arguments(json);
}

TaggedCalls::Step TaggedCalls::read_json(ReplyText& in, ReplyBuilder& out) {
  switch (arguments_.read(in, out)) {
    case ArgumentsReader::Status::kNeedsText:
      return Step::kNeedsText;
    case ArgumentsReader::Status::kBroken:
      return Step::kBreak;
    case ArgumentsReader::Status::kDone:
      break;
  }
  return go(State::kAfterJson);
}

}  // namespace tandem
