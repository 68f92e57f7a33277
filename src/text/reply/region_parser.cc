// The frame of every call parser.

#include "text/reply/region_parser.h"

#include <array>

namespace tandem {

CallParser::Status RegionParser::parse(ReplyText& in, ReplyBuilder& out) {
  for (;;) {
    Status status = Status::kDone;
    if (is_wreck_ && !skip_wreck(in, out, status)) return status;
    switch (step(in, out)) {
      case Step::kAgain:
        continue;
      case Step::kNeedsText:
        return in.is_final() ? finish(in, out) : Status::kNeedsText;
      case Step::kDone:
        if (n_calls_ > 0) return Status::kDone;
        if (may_decline(out)) return Status::kNotACall;
        end_with(CallState::kBroken, in, out);
        return Status::kDone;
      case Step::kBreak:
        if (may_decline(out)) return Status::kNotACall;
        is_wreck_ = true;
    }
  }
}

bool RegionParser::may_decline(const ReplyBuilder& out) const {
  return context_.is_tentative && n_calls_ == 0 && !out.is_call_started();
}

void RegionParser::end_with(CallState state, ReplyText& in, ReplyBuilder& out) {
  out.end_call(state, in.take_record());
  ++n_calls_;
}

void RegionParser::complete_call(ReplyText& in, ReplyBuilder& out) {
  end_with(CallState::kComplete, in, out);
}

ReplyText::Match RegionParser::take_end(ReplyText& in) const {
  return region_.end.empty() ? ReplyText::Match::kNo : in.take_if(region_.end);
}

/// A wreck ends with its call, its region, before the next region, or with the reply.
bool RegionParser::skip_wreck(ReplyText& in, ReplyBuilder& out, Status& status) {
  const std::array ends{region_.begin, region_.end, call_end()};
  std::string taken;  // recorded by `in`
  const MarkerHit hit = in.take_until(ends, taken);
  const bool is_over = hit.index != MarkerHit::kNone;
  if (!is_over && !in.is_final()) {
    status = Status::kNeedsText;
    return false;
  }
  if (is_over && hit.index > 0) in.take(ends[hit.index].size());
  end_with(CallState::kBroken, in, out);
  status = Status::kDone;
  is_wreck_ = false;
  const bool goes_on = hit.index == 2 && !region_.end.empty();
  if (goes_on) recover();
  return goes_on;
}

CallParser::Status RegionParser::finish(ReplyText& in, ReplyBuilder& out) {
  before_finish(in, out);
  const bool is_inside = is_inside_call();
  if (!is_inside && n_calls_ > 0) {
    in.take(in.rest().size());  // white space or a part of the end marker
    return Status::kDone;
  }
  if (may_decline(out) && !is_inside) return Status::kNotACall;
  in.take(in.rest().size());
  end_with(CallState::kIncomplete, in, out);
  return Status::kDone;
}

}  // namespace tandem
