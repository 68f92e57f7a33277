#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/reply/reply.h"

namespace tandem {

/// Grows a ReplyMessage and the deltas that tell of it, so that the two can never differ.
///
/// White space beside a reasoning block or a call belongs to the format, not to the text: it is
/// held back until text follows that makes it part of the content, and dropped when none does.
class ReplyBuilder {
 public:
  void content(std::string_view text);
  /// White space at the end of the content is content: nothing can follow that would drop it.
  void release_space();
  void open_reasoning();
  void reasoning(std::string_view text);
  void close_reasoning();
  /// Something that is neither content nor reasoning stands here.
  void boundary() { is_beside_structure_ = true; }
  /// No content but white space so far.
  bool is_content_empty() const { return message_.content.empty(); }

  /// A call's name is known. Arguments may come before it; they are held back until then.
  void start_call(std::string_view name, std::string_view id);
  bool is_call_started() const { return is_call_started_; }
  void arguments(std::string_view json);
  /// The id of a started call came after its name.
  void set_late_id(std::string_view id);
  /// Ends a call, started or not. `raw` is its text; kept unless it is complete.
  void end_call(CallState state, std::string raw);

  /// No more will come.
  void finish();
  const ReplyMessage& message() const { return message_; }
  std::vector<ReplyDelta> take_deltas() { return std::exchange(deltas_, {}); }

 private:
  void add_text(ReplyDelta::Kind kind, std::string& to, std::string_view text);
  void add_arguments(std::string_view json);

  ReplyMessage message_;
  std::vector<ReplyDelta> deltas_;
  std::string content_space_;    ///< trailing white space not yet known to be content
  std::string reasoning_space_;  ///< the same for the open reasoning block
  bool is_beside_structure_ = false;
  bool is_block_empty_ = true;  ///< of the reasoning block
  bool is_call_started_ = false;
  std::string early_arguments_;
};

}  // namespace tandem
