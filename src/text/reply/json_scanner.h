#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

/// Checks one JSON value (RFC 8259) a character at a time, and finds where it ends. Nesting is
/// limited to kMaxDepth; nothing recurses.
class JsonScanner {
 public:
  static constexpr size_t kMaxDepth = 128;
  enum class Step {
    kMore,       ///< fine so far
    kEnd,        ///< this character ended the value
    kEndBefore,  ///< the value, a number, ended before this character
    kError,      ///< no JSON value can go on like this
  };
  Step feed(char c);
  /// True when the text so far is a whole value, also a number that could go on.
  bool can_end() const;
  void reset() { *this = JsonScanner(); }

 private:
  enum class State {
    kValue,
    kFirstItem,
    kFirstKey,
    kKey,
    kColon,
    kAfter,
    kString,
    kEscape,
    kHex,
    kLiteral,
    kMinus,
    kZero,
    kInteger,
    kPoint,
    kFraction,
    kExponent,
    kExponentSign,
    kExponentDigits,
    kDone,
  };
  Step begin_value(char c);
  Step end_value();
  Step feed_string(char c);
  Step feed_number(char c);
  Step feed_structure(char c);
  Step go(State state);
  bool is_number_state() const;

  State state_ = State::kValue;
  std::vector<bool> is_object_;  ///< the open brackets, innermost last
  bool is_key_ = false;          ///< the string being read
  int n_hex_left_ = 0;
  std::string_view literal_;  ///< what must still follow of true, false or null
};

/// True when `text`, without white space around it, is one JSON value.
bool is_json(std::string_view text);

/// Adds `text` as a JSON string with its quotes; only what JSON requires is escaped.
void append_json_string(std::string& out, std::string_view text);

/// The content of a JSON string that JsonScanner accepted, quotes included. Lone surrogates become
/// U+FFFD.
std::string decode_json_string(std::string_view quoted);

/// Adds a code point as UTF-8; what is none (surrogates, above U+10FFFF) as U+FFFD.
void append_code_point(std::string& out, uint32_t code_point);

}  // namespace tandem
