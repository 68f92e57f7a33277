#pragma once

#include <string>

#include "text/reply/json_scanner.h"
#include "text/reply/reply_builder.h"
#include "text/reply/reply_text.h"

namespace tandem {

/// Reads the arguments of a call as the model writes them, and passes them on as they come. A JSON
/// object streams; a string that holds an object is decoded once whole; null means no arguments.
class ArgumentsReader {
 public:
  enum class Status { kNeedsText, kDone, kBroken };
  Status read(ReplyText& in, ReplyBuilder& out);
  void reset();
  /// Whether anything of a value was taken.
  bool has_started() const { return is_started_; }

 private:
  Status finish_held(ReplyBuilder& out) const;

  JsonScanner scanner_;
  bool is_started_ = false;
  bool is_object_ = false;
  std::string held_;  ///< a string or null
};

}  // namespace tandem
