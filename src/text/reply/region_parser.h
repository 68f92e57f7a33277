#pragma once

#include <string_view>
#include <vector>

#include "text/reply/call_parser.h"

namespace tandem {

/// What the parsers of all syntaxes share: running their steps, giving a broken call its due, and
/// ending a region whose text has run out.
class RegionParser : public CallParser {
 public:
  RegionParser(const CallRegion& region, const CallContext& context)
      : region_(region), context_(context) {}
  Status parse(ReplyText& in, ReplyBuilder& out) final;

 protected:
  enum class Step {
    kAgain,      ///< something was taken or decided
    kNeedsText,  ///< cannot decide yet
    kDone,       ///< the region is over
    kBreak,      ///< this is not what the syntax allows
  };
  virtual Step step(ReplyText& in, ReplyBuilder& out) = 0;
  /// Whether text of a call that is not whole was taken. Asked when the text has run out.
  virtual bool is_inside_call() const = 0;
  /// The word that ends one call of several, for going on after a broken one; empty: there is none.
  virtual std::string_view call_end() const { return {}; }
  /// Before the next call, after a broken one was skipped up to call_end.
  virtual void recover() {}
  /// The text has run out: the last chance to end a call that is whole although nothing followed
  /// it, and to start one that is not.
  virtual void before_finish(ReplyText&, ReplyBuilder&) {}

  void complete_call(ReplyText& in, ReplyBuilder& out);
  /// Takes the region's end marker if it comes next. A region without one never matches.
  ReplyText::Match take_end(ReplyText& in) const;

  const CallRegion& region_;
  const CallContext& context_;
  size_t n_calls_ = 0;  ///< ended ones

 private:
  Status finish(ReplyText& in, ReplyBuilder& out);
  /// True when the region goes on after the broken call.
  bool skip_wreck(ReplyText& in, ReplyBuilder& out, Status& status);
  bool may_decline(const ReplyBuilder& out) const;
  void end_with(CallState state, ReplyText& in, ReplyBuilder& out);

  bool is_wreck_ = false;  ///< after kBreak: everything up to the end marker is the broken call
};

}  // namespace tandem
