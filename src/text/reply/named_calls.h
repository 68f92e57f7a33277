#pragma once

#include <string>

#include "text/reply/arguments_reader.h"
#include "text/reply/region_parser.h"

namespace tandem {

/// Calls as a name followed by JSON arguments: name[ARGS]{...}, and the section formats of DeepSeek
/// and Kimi.
class NamedCalls : public RegionParser {
 public:
  NamedCalls(const CallRegion& region, const CallContext& context);

 private:
  enum class State {
    kBetween,
    kName,
    kId,
    kSecondName,
    kFence,
    kArguments,
    kAfterArguments,
    kAfterFence,
  };
  Step step(ReplyText& in, ReplyBuilder& out) override;
  bool is_inside_call() const override { return state_ != State::kBetween; }
  std::string_view call_end() const override { return region_.words.call_end; }
  void recover() override { state_ = State::kBetween; }
  void before_finish(ReplyText& in, ReplyBuilder& out) override;

  Step go(State state);
  Step between(ReplyText& in);
  Step read_name(ReplyText& in, ReplyBuilder& out);
  Step read_id(ReplyText& in, ReplyBuilder& out);
  Step read_second_name(ReplyText& in, ReplyBuilder& out);
  Step read_arguments(ReplyText& in, ReplyBuilder& out);
  Step after_arguments(ReplyText& in, ReplyBuilder& out);
  Step start(ReplyBuilder& out);

  State state_;
  std::string name_;
  std::string id_;
  bool has_fence_ = false;
  ArgumentsReader arguments_;
};

/// Arguments of a call named by a message header; they end with the message.
class HeaderCall : public CallParser {
 public:
  HeaderCall(std::string_view name, std::vector<std::string_view> ends, const CallContext& context)
      : name_(name), ends_(std::move(ends)), context_(context) {}
  Status parse(ReplyText& in, ReplyBuilder& out) override;

 private:
  Status read_json(ReplyText& in, ReplyBuilder& out);
  Status read_rest(ReplyText& in, ReplyBuilder& out);
  Status end(CallState state, ReplyText& in, ReplyBuilder& out);

  std::string name_;
  std::vector<std::string_view> ends_;
  const CallContext& context_;
  bool is_started_ = false;
  bool is_json_done_ = false;
  bool is_rest_ = false;  ///< no JSON, or more than one value: read as text up to the end
  std::string rest_;
  ArgumentsReader arguments_;
};

}  // namespace tandem
