#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tandem {

/// Adds `text`, one Python literal, as JSON: strings, numbers, True, False, None, lists, tuples and
/// dicts, nested up to 64 deep; JSON's own words are read too. False, with `out` unchanged, when it
/// is something else.
bool append_python_value(std::string& out, std::string_view text);

/// Adds the keyword arguments of a call, `a=1, b="x"`, as a JSON object. False, with `out`
/// unchanged, for positional arguments and whatever is no literal.
bool append_python_arguments(std::string& out, std::string_view text);

/// The length of a name that may be called, dots included, at the start of `text`.
size_t python_name_length(std::string_view text);

/// Finds the bracket that closes a call, a character at a time; brackets in strings do not count.
class PythonScanner {
 public:
  /// `c` follows the call's opening bracket and what was fed before. True: it closes the call.
  bool feed(char c);

 private:
  enum class Quote { kNone, kOpened, kMaybeEmpty, kSingle, kTriple };
  bool feed_quoted(char c);
  bool feed_plain(char c);

  size_t depth_ = 0;
  Quote quote_ = Quote::kNone;
  char mark_ = 0;    ///< the quotation mark of the open string
  int n_marks_ = 0;  ///< in a row, inside a triple-quoted string
  bool is_escape_ = false;
};

}  // namespace tandem
