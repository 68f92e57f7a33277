#pragma once

#include <memory>
#include <string_view>

#include "text/reply/reply_builder.h"
#include "text/reply/reply_format.h"
#include "text/reply/reply_text.h"
#include "text/reply/tool_types.h"

namespace tandem {

/// What the parsers of calls need to know beside the format.
struct CallContext {
  const ToolTypes* tools = nullptr;  ///< never null once made; empty when the tools are unknown
  /// The region has no marker before it: a text that only looks like a call is content.
  bool is_tentative = false;
  /// Set before the last parse: the reply was cut off, it did not end by itself.
  bool is_cut_off = false;
};

/// Reads the calls of one region from the text after its begin marker. At the end of the reply it
/// ends what it had begun: a call that is not whole becomes kIncomplete, never kComplete.
class CallParser {
 public:
  virtual ~CallParser() = default;

  enum class Status {
    kNeedsText,  ///< everything understood so far is taken; call again with more
    kDone,       ///< the region is over
    kNotACall,   ///< tentative only, before any call was started: all of it is content
  };
  virtual Status parse(ReplyText& in, ReplyBuilder& out) = 0;
};

/// `region` and `context` must outlive the parser.
std::unique_ptr<CallParser> make_call_parser(const CallRegion& region, const CallContext& context);

/// Arguments of a call whose name stood in a message header, up to one of `ends`, which stays.
std::unique_ptr<CallParser> make_header_call_parser(std::string_view name,
                                                    std::vector<std::string_view> ends,
                                                    const CallContext& context);

}  // namespace tandem
