// The outer loop of reply parsing: content, reasoning, message headers, and regions of calls.

#include "text/reply/reply_parser.h"

#include <algorithm>
#include <array>
#include <utility>

#include "text/reply/call_parser.h"
#include "text/reply/python_literal.h"

namespace tandem {
namespace {

constexpr size_t kLongestHeader = 512;  // bytes; longer, it is text

/// Who a message is for, by its header: "analysis", "commentary to=functions.f <|constrain|>json",
/// " to=functions.f<|channel|>commentary json".
struct MessageHeader {
  std::string_view recipient;
  bool is_reasoning = false;
};

MessageHeader read_header(std::string_view text) {
  MessageHeader header;
  if (const size_t to = text.find("to="); to != std::string_view::npos) {
    const std::string_view rest = text.substr(to + 3);
    header.recipient = rest.substr(0, rest.find_first_of(" <\n"));
  }
  const bool is_self = header.recipient == "self";
  header.is_reasoning = text.find("analysis") != std::string_view::npos || is_self;
  if (is_self || header.recipient == "user" || header.recipient == "all") header.recipient = {};
  return header;
}

}  // namespace

class ReplyParser::State {
 public:
  State(ReplyFormat format, ReplyOptions options);

  Result<std::vector<ReplyDelta>> push(std::string_view text);
  std::vector<ReplyDelta> finish(ReplyEnd end);
  const ReplyMessage& message() const { return builder_.message(); }

 private:
  enum class Mode { kStart, kContent, kReasoning, kHeader, kCall };
  // Each returns false when it needs more text.
  bool step();
  bool step_start();
  bool step_content();
  bool step_reasoning();
  bool step_header();
  bool step_call();

  bool begin_header_or_content();
  bool begin_tentative_call(CallSyntax syntax);
  void begin_call(std::unique_ptr<CallParser> parser, std::string_view marker);
  void open_reasoning();
  void use_header();
  void take_header_as_content();
  void use_content_marker(size_t index);
  bool may_open_reasoning() const;
  bool is_untouched() const;

  const ReplyFormat format_;
  const ReplyOptions options_;
  CallContext context_;
  std::vector<std::string_view> content_markers_;
  std::vector<std::string_view> reasoning_ends_;
  ReplyText in_;
  ReplyBuilder builder_;
  Mode mode_ = Mode::kStart;
  bool may_be_call_ = true;  ///< a call without a marker may still begin the reply
  std::string header_;
  std::string_view header_marker_;  ///< that began it; empty at the start of the reply
  std::unique_ptr<CallParser> parser_;
  size_t n_bytes_ = 0;
};

// The order of content_markers_: regions, then the reasoning block, then headers, the rest is
// dropped.
ReplyParser::State::State(ReplyFormat format, ReplyOptions options)
    : format_(std::move(format)), options_(std::move(options)) {
  context_.tools = &options_.tools;
  for (const CallRegion& region : format_.regions) content_markers_.push_back(region.begin);
  content_markers_.push_back(format_.reasoning_begin);
  const auto add = [](std::vector<std::string_view>& to,
                      const std::vector<std::string_view>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  add(content_markers_, format_.header_begins);
  add(content_markers_, format_.message_ends);
  add(content_markers_, format_.ignored);
  reasoning_ends_.push_back(format_.reasoning_end);
  add(reasoning_ends_, format_.message_ends);
  add(reasoning_ends_, format_.header_begins);
  if (options_.starts_in_reasoning) open_reasoning();
}

Result<std::vector<ReplyDelta>> ReplyParser::State::push(std::string_view text) {
  if (text.size() > options_.max_bytes - n_bytes_) {
    return failure(ErrorCode::kInvalidArgument, "the reply exceeds its limit of {} bytes",
                   options_.max_bytes);
  }
  n_bytes_ += text.size();
  in_.append(text);
  while (step()) {
  }
  return builder_.take_deltas();
}

std::vector<ReplyDelta> ReplyParser::State::finish(ReplyEnd end) {
  in_.set_final();
  context_.is_cut_off = end == ReplyEnd::kCutOff;
  while (step()) {
  }
  builder_.finish();
  return builder_.take_deltas();
}

bool ReplyParser::State::step() {
  switch (mode_) {
    case Mode::kStart:
      return step_start();
    case Mode::kContent:
      return step_content();
    case Mode::kReasoning:
      return step_reasoning();
    case Mode::kHeader:
      return step_header();
    case Mode::kCall:
      return step_call();
  }
  return false;
}

/// At the beginning of a message, before any character of it is understood.
bool ReplyParser::State::step_start() {
  if (format_.header != HeaderKind::kNone) return begin_header_or_content();
  size_t n_space = 0;
  while (n_space < in_.rest().size() && is_space(in_.rest()[n_space])) ++n_space;
  builder_.content(in_.take(n_space));
  const std::string_view text = in_.rest();
  if (text.empty()) return false;
  const bool is_json = format_.begins_with_json && text.starts_with('{');
  const bool is_list = format_.begins_with_python && text.starts_with('[');
  if (is_untouched() && may_be_call_ && (is_json || is_list)) {
    return begin_tentative_call(is_json ? CallSyntax::kJson : CallSyntax::kPython);
  }
  mode_ = Mode::kContent;
  return true;
}

bool ReplyParser::State::is_untouched() const {
  return builder_.is_content_empty() && builder_.message().tool_calls.empty();
}

/// After the prompt a message with headers goes on in the middle of one: harmony's `<|start|>
/// assistant` is followed by a channel or a recipient, functionary's `>>>` by the recipient's name.
bool ReplyParser::State::begin_header_or_content() {
  mode_ = Mode::kHeader;
  if (format_.header == HeaderKind::kRecipientLine) return true;
  std::vector<std::string_view> starts = format_.header_begins;
  starts.insert(starts.end(), {format_.header_end, " to=", "to="});
  const std::string_view text = in_.rest();
  for (const std::string_view start : starts) {
    if (text.starts_with(start)) return true;
    if (start.starts_with(text) && !in_.is_final()) {
      mode_ = Mode::kStart;
      return false;
    }
  }
  mode_ = Mode::kContent;
  return true;
}

bool ReplyParser::State::may_open_reasoning() const {
  return format_.reasoning_anywhere || builder_.is_content_empty();
}

bool ReplyParser::State::step_content() {
  std::string text;
  const MarkerHit hit = in_.take_until(content_markers_, text);
  builder_.content(text);
  // A block that can no longer open needs no text held back for it.
  if (!may_open_reasoning()) content_markers_[format_.regions.size()] = {};
  const bool any_marker = std::any_of(content_markers_.begin(), content_markers_.end(),
                                      [](std::string_view marker) { return !marker.empty(); });
  if (!any_marker) builder_.release_space();
  if (hit.index == MarkerHit::kNone) return false;
  use_content_marker(hit.index);
  return true;
}

void ReplyParser::State::use_content_marker(size_t index) {
  const std::string_view marker = content_markers_[index];
  const size_t n_regions = format_.regions.size();
  if (index < n_regions) {
    context_.is_tentative = false;
    return begin_call(make_call_parser(format_.regions[index], context_), marker);
  }
  in_.take(marker.size());
  if (index == n_regions) {
    if (may_open_reasoning()) open_reasoning();
    return;  // or else the marker was just emptied, and its text is content
  }
  builder_.boundary();
  const size_t n_before_ends = n_regions + format_.header_begins.size();
  if (index <= n_before_ends) {
    header_.clear();
    header_marker_ = marker;
    mode_ = Mode::kHeader;
  } else if (index <= n_before_ends + format_.message_ends.size()) {
    builder_.content("\n");  // between two messages of content
  }
}

void ReplyParser::State::open_reasoning() {
  builder_.open_reasoning();
  mode_ = Mode::kReasoning;
}

bool ReplyParser::State::step_reasoning() {
  std::string text;
  const MarkerHit hit = in_.take_until(reasoning_ends_, text);
  builder_.reasoning(text);
  if (hit.index == MarkerHit::kNone) return false;
  builder_.close_reasoning();
  const bool begins_header = hit.index > format_.message_ends.size();
  if (!begins_header) in_.take(reasoning_ends_[hit.index].size());
  mode_ = format_.header == HeaderKind::kNone ? Mode::kStart : Mode::kContent;
  return true;
}

bool ReplyParser::State::step_header() {
  const std::array ends{format_.header_end};
  const MarkerHit hit = find_marker(in_.rest(), ends, in_.is_final());
  const size_t n = std::min(hit.position, kLongestHeader - header_.size());
  header_.append(in_.take(n));
  const bool is_too_long = n < hit.position;
  if (!is_too_long && hit.index != MarkerHit::kNone) {
    in_.take(format_.header_end.size());
    use_header();
    return true;
  }
  if (!is_too_long && !in_.is_final()) return false;
  take_header_as_content();
  return true;
}

void ReplyParser::State::take_header_as_content() {
  builder_.content(std::exchange(header_marker_, {}));
  builder_.content(std::exchange(header_, {}));
  mode_ = Mode::kContent;
}

void ReplyParser::State::use_header() {
  const bool is_line = format_.header == HeaderKind::kRecipientLine;
  if (is_line && (header_.empty() || python_name_length(header_) < header_.size())) {
    header_ += format_.header_end;
    return take_header_as_content();
  }
  const std::string text = std::exchange(header_, {});
  mode_ = Mode::kContent;
  MessageHeader header = read_header(text);
  if (is_line) header.recipient = text == "all" ? std::string_view() : text;
  // Where calls have a syntax of their own, the recipient only repeats the name.
  if (!header.recipient.empty() && format_.regions.empty()) {
    constexpr std::string_view kFunctions = "functions.";
    const bool names_one = header.recipient.size() > kFunctions.size();
    if (names_one && header.recipient.starts_with(kFunctions)) {
      header.recipient.remove_prefix(kFunctions.size());
    }
    std::vector<std::string_view> ends = format_.message_ends;
    ends.insert(ends.end(), format_.header_begins.begin(), format_.header_begins.end());
    begin_call(make_header_call_parser(header.recipient, std::move(ends), context_), "");
    return;
  }
  if (header.is_reasoning) open_reasoning();
}

void ReplyParser::State::begin_call(std::unique_ptr<CallParser> parser, std::string_view marker) {
  in_.start_record();
  in_.take(marker.size());
  parser_ = std::move(parser);
  mode_ = Mode::kCall;
}

bool ReplyParser::State::begin_tentative_call(CallSyntax syntax) {
  static const CallRegion json{.begin = "", .syntax = CallSyntax::kJson};
  static const CallRegion python{.begin = "", .syntax = CallSyntax::kPython, .or_json = true};
  context_.is_tentative = true;
  begin_call(make_call_parser(syntax == CallSyntax::kJson ? json : python, context_), "");
  return true;
}

bool ReplyParser::State::step_call() {
  switch (parser_->parse(in_, builder_)) {
    case CallParser::Status::kNeedsText:
      return false;
    case CallParser::Status::kNotACall:
      in_.give_back_record();
      may_be_call_ = false;
      break;
    case CallParser::Status::kDone:
      in_.stop_record();
      builder_.boundary();
  }
  mode_ = Mode::kContent;
  return true;
}

ReplyParser::ReplyParser(ReplyFormat format, ReplyOptions options)
    : state_(std::make_unique<State>(std::move(format), std::move(options))) {}
ReplyParser::ReplyParser(ReplyParser&&) noexcept = default;
ReplyParser& ReplyParser::operator=(ReplyParser&&) noexcept = default;
ReplyParser::~ReplyParser() = default;

Result<std::vector<ReplyDelta>> ReplyParser::push(std::string_view text) {
  return state_->push(text);
}

std::vector<ReplyDelta> ReplyParser::finish(ReplyEnd end) { return state_->finish(end); }

const ReplyMessage& ReplyParser::message() const { return state_->message(); }

Result<ReplyMessage> parse_reply(const ReplyFormat& format, std::string_view text,
                                 ReplyOptions options, ReplyEnd end) {
  ReplyParser parser(format, std::move(options));
  TANDEM_TRY(parser.push(text));
  parser.finish(end);
  return parser.message();
}

}  // namespace tandem
