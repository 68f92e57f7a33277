#pragma once

#include <span>
#include <string>
#include <string_view>

#include "text/reply/marker.h"

namespace tandem {

/// The text of a reply that has come in and is not yet understood. Parsers take from its front and
/// ask for more when they cannot decide; a decision must never depend on how the text was split.
class ReplyText {
 public:
  /// Adds text at the end. Views handed out before become invalid.
  void append(std::string_view text);
  /// No more text will come.
  void set_final() { is_final_ = true; }
  bool is_final() const { return is_final_; }

  std::string_view rest() const { return std::string_view(buffer_).substr(position_); }
  bool is_empty() const { return position_ == buffer_.size(); }
  /// Removes and returns the next `n` bytes; valid until append or give_back.
  std::string_view take(size_t n);
  void skip_space();

  enum class Match { kYes, kNo, kNeedsText };
  /// Takes `literal` if it comes next. kNeedsText: all that is there is a beginning of it; at the
  /// end of the reply this says that the text has run out.
  Match take_if(std::string_view literal);

  /// Takes the text before the first of `markers` (find_marker) and adds it to `out`; `hit` says
  /// which one follows. kNone: more text is needed, or the text is at its end.
  MarkerHit take_until(std::span<const std::string_view> markers, std::string& out);

  /// Keeps what is taken from now on, so that a broken call can be shown or given back.
  void start_record();
  std::string take_record();
  void stop_record();
  /// Puts everything taken since start_record back in front.
  void give_back_record();

 private:
  std::string buffer_;
  size_t position_ = 0;
  bool is_final_ = false;
  bool is_recording_ = false;
  std::string record_;
};

}  // namespace tandem
