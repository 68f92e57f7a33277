#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tandem {

/// Reads JSON front to back without building a tree, for the parts of a tokenizer.json that have
/// hundreds of thousands of entries. Errors: kCorruptFile with the byte offset.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  /// Whether the next value begins with `c`; nothing is consumed.
  bool next_is(char c);
  Result<void> expect(char c);
  /// For "[a, b]" and "{...}" after the opening bracket: false, and consumed, at `close`; else true
  /// with the comma before the next item consumed. `first` starts as true.
  Result<bool> next_item(char close, bool& first);
  /// `out` gets the characters of a string, escapes undone.
  Result<void> string(std::string& out);
  Result<double> number();
  Result<int64_t> integer();
  /// Skips one value of any kind and returns its text, brackets matched but otherwise unchecked.
  Result<std::string_view> raw_value();
  /// Only white space is left.
  Result<void> expect_end();

 private:
  void skip_space();
  Result<void> escape(std::string& out);
  Result<uint32_t> hex4();
  tl::unexpected<Error> unexpected(std::string_view wanted) const;

  std::string_view text_;
  size_t pos_ = 0;
};

}  // namespace tandem
