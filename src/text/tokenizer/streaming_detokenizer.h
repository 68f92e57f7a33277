#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer/tokenizer.h"

namespace tandem {

/// Turns a generation's tokens into text that may be shown at once: never half a character, never
/// the beginning of a stop string that may still complete. The chunks joined equal
/// Tokenizer::decode of the same tokens up to the stop string. One per generation; not shared
/// between threads.
///
///   StreamingDetokenizer out(*tokenizer, {"\nUser:"});
///   for (TokenId id : reply) { show(out.push(id)); if (out.stopped()) break; }
///   show(out.finish());
class StreamingDetokenizer {
 public:
  /// `tokenizer` must outlive this. Empty stop strings are ignored. Of DecodeOptions, begins_text
  /// defaults to false here: a reply continues its prompt.
  StreamingDetokenizer(const Tokenizer& tokenizer, std::vector<std::string> stop_strings = {},
                       DecodeOptions options = {.begins_text = false});

  /// Takes the next token; returns what may be shown now, valid until the next call. After a stop
  /// string matched nothing more comes.
  std::string_view push(TokenId token);
  /// The text held back: an unfinished character becomes one U+FFFD. Empty after a stop.
  std::string_view finish();

  /// A stop string has matched; it and what follows it are not part of the text.
  bool stopped() const { return !matched_stop_.empty(); }
  /// The stop string that matched, or empty.
  std::string_view matched_stop() const { return matched_stop_; }

 private:
  std::string_view release(bool at_end);

  const Tokenizer& tokenizer_;
  std::vector<std::string> stop_strings_;
  DecodeOptions options_;
  bool at_start_;
  std::string raw_;    ///< bytes of a character not complete yet
  std::string held_;   ///< valid text not shown yet
  std::string shown_;  ///< what the last call returned
  std::string matched_stop_;
};

}  // namespace tandem
