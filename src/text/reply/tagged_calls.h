#pragma once

#include <string>

#include "text/reply/arguments_reader.h"
#include "text/reply/region_parser.h"

namespace tandem {

/// Calls with a tag for every parameter, as Qwen3-Coder, GLM, DeepSeek V3.2 and others write them.
/// Each parameter becomes a piece of the JSON arguments when its end tag has come.
class TaggedCalls : public RegionParser {
 public:
  TaggedCalls(const CallRegion& region, const CallContext& context);

 private:
  enum class State {
    kBetween,
    kName,
    kNameAttributes,
    kParameters,
    kKey,
    kKeyAttributes,
    kBeforeValue,
    kValue,
    kJson,
    kAfterJson,
  };
  Step step(ReplyText& in, ReplyBuilder& out) override;
  bool is_inside_call() const override { return state_ != State::kBetween; }
  std::string_view call_end() const override { return region_.words.call_end; }
  void recover() override { state_ = State::kBetween; }

  Step go(State state);
  Step between(ReplyText& in);
  Step read_name(ReplyText& in, ReplyBuilder& out);
  Step read_attributes(ReplyText& in, State next);
  Step start(ReplyBuilder& out);
  Step parameters(ReplyText& in, ReplyBuilder& out);
  Step read_key(ReplyText& in);
  Step before_value(ReplyText& in);
  Step read_value(ReplyText& in, ReplyBuilder& out);
  Step read_json(ReplyText& in, ReplyBuilder& out);
  Step end_call(ReplyText& in, ReplyBuilder& out);
  void add_parameter(ReplyBuilder& out);
  void begin_call();

  const CallWords& words_;
  const bool is_single_;  ///< the region is one call: its begin marker is the call's
  State state_;
  std::string name_;
  std::string key_;
  std::string attributes_;
  std::string value_;
  size_t n_parameters_ = 0;
  ArgumentsReader arguments_;
};

}  // namespace tandem
