#pragma once

#include <string>

#include "text/reply/python_literal.h"
#include "text/reply/region_parser.h"

namespace tandem {

/// Calls as a Python list, [f(a=1), g(b="x")], or one after the other. The arguments of a call come
/// in one piece, when its bracket closes.
class PythonCalls : public RegionParser {
 public:
  using RegionParser::RegionParser;

 private:
  enum class State { kBetween, kName, kArguments, kAfterList };
  Step step(ReplyText& in, ReplyBuilder& out) override;
  bool is_inside_call() const override;
  void before_finish(ReplyText& in, ReplyBuilder& out) override;

  Step between(ReplyText& in);
  Step read_name(ReplyText& in, ReplyBuilder& out);
  Step read_arguments(ReplyText& in, ReplyBuilder& out);

  State state_ = State::kBetween;
  bool in_list_ = false;
  std::string name_;
  std::string arguments_;
  PythonScanner scanner_;
};

/// A stretch of Python: calls as statements, also printed ones, or else a program, which becomes a
/// call of the tool "python" with the argument "code". Read as a whole.
class CodeRegion : public CallParser {
 public:
  CodeRegion(const CallRegion& region, const CallContext& context)
      : region_(region), context_(context) {}
  Status parse(ReplyText& in, ReplyBuilder& out) override;

 private:
  bool emit_calls(ReplyText& in, ReplyBuilder& out) const;

  const CallRegion& region_;
  const CallContext& context_;
  std::string code_;
};

}  // namespace tandem
