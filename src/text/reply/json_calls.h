#pragma once

#include <string>

#include "text/reply/arguments_reader.h"
#include "text/reply/region_parser.h"

namespace tandem {

/// Calls as JSON objects: {"name": "f", "arguments": {...}}, one, several, or in a list. Name and
/// arguments go by the names that models use for them, in either order, also inside "function".
class JsonCalls : public RegionParser {
 public:
  JsonCalls(const CallRegion& region, const CallContext& context);

 private:
  enum class Role { kName, kId, kArguments, kFunction, kOther };
  enum class State {
    kBetween,
    kKey,
    kInKey,
    kColon,
    kValue,
    kInValue,
    kInArguments,
    kAfterValue,
    kAfterObject,
    kAfterList,
  };
  Step step(ReplyText& in, ReplyBuilder& out) override;
  bool is_inside_call() const override;
  void before_finish(ReplyText& in, ReplyBuilder& out) override;

  Step go(State state);
  Step between(ReplyText& in);
  Step key(ReplyText& in, ReplyBuilder& out);
  Step begin_value(ReplyText& in, ReplyBuilder& out);
  Step read_value(ReplyText& in, ReplyBuilder& out);
  Step read_arguments(ReplyText& in, ReplyBuilder& out);
  Step use_value(ReplyBuilder& out);
  Step set_name(std::string name, ReplyBuilder& out);
  Step after_value(ReplyText& in, ReplyBuilder& out);
  Step close_object(ReplyBuilder& out);
  Step after_object(ReplyText& in, ReplyBuilder& out);
  Step read_token(ReplyText& in);
  Role role_of(const std::string& key) const;
  void begin_object();
  void start_if_ready(ReplyBuilder& out);

  State state_ = State::kBetween;
  bool in_list_ = false;
  bool may_close_ = false;    ///< in kKey: '}' is allowed, no comma stands before it
  bool in_function_ = false;  ///< inside the object of "function"
  Role role_ = Role::kOther;
  JsonScanner scanner_;
  ArgumentsReader arguments_;
  std::string token_;  ///< the key or value being read
  std::string name_;
  std::string id_;
  bool has_name_ = false;
  bool has_arguments_ = false;
};

}  // namespace tandem
