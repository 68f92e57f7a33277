#pragma once

#include <string>
#include <string_view>

#include "text/reply/region_parser.h"

namespace tandem {

/// Gemma's own notation: call:name{key:<|"|>text<|"|>,other:1}. The words' value_begin is the mark
/// around strings. The arguments come in one piece, at the end marker.
class GemmaCalls : public RegionParser {
 public:
  using RegionParser::RegionParser;

 private:
  enum class State { kName, kArguments, kEnded };
  Step step(ReplyText& in, ReplyBuilder& out) override;
  bool is_inside_call() const override { return state_ != State::kEnded; }
  Step read_name(ReplyText& in, ReplyBuilder& out);
  Step read_arguments(ReplyText& in, ReplyBuilder& out);

  State state_ = State::kName;
  std::string name_;
  std::string arguments_;
  bool in_string_ = false;
};

/// Adds `text`, an object in Gemma's notation, as JSON; `quote` marks strings. Bare words that are
/// no number, true, false, null or None are strings. False, with `out` unchanged, if it is none.
bool append_gemma_object(std::string& out, std::string_view text, std::string_view quote);

}  // namespace tandem
