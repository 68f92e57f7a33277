// JSON, read a character at a time.

#include "text/reply/json_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "text/reply/marker.h"
#include "text/unicode/utf8.h"

namespace tandem {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

}  // namespace

JsonScanner::Step JsonScanner::go(State state) {
  state_ = state;
  return Step::kMore;
}

JsonScanner::Step JsonScanner::begin_value(char c) {
  if (c == '{' || c == '[') {
    if (is_object_.size() == kMaxDepth) return Step::kError;
    is_object_.push_back(c == '{');
    return go(c == '{' ? State::kFirstKey : State::kFirstItem);
  }
  is_key_ = false;
  if (c == '"') return go(State::kString);
  if (c == '-') return go(State::kMinus);
  if (c == '0') return go(State::kZero);
  if (is_digit(c)) return go(State::kInteger);
  if (c == 't') literal_ = "rue";
  if (c == 'f') literal_ = "alse";
  if (c == 'n') literal_ = "ull";
  return c == 't' || c == 'f' || c == 'n' ? go(State::kLiteral) : Step::kError;
}

JsonScanner::Step JsonScanner::end_value() {
  if (!is_object_.empty()) return go(State::kAfter);
  state_ = State::kDone;
  return Step::kEnd;
}

JsonScanner::Step JsonScanner::feed_string(char c) {
  switch (state_) {
    case State::kEscape:
      if (c == 'u') {
        n_hex_left_ = 4;
        return go(State::kHex);
      }
      return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos ? go(State::kString)
                                                                              : Step::kError;
    case State::kHex:
      if (!is_hex(c)) return Step::kError;
      return --n_hex_left_ == 0 ? go(State::kString) : Step::kMore;
    default:
      if (c == '\\') return go(State::kEscape);
      if (static_cast<unsigned char>(c) < 0x20) return Step::kError;
      if (c != '"') return Step::kMore;
      return is_key_ ? go(State::kColon) : end_value();
  }
}

JsonScanner::Step JsonScanner::feed_number(char c) {
  const bool digit = is_digit(c);
  const bool exponent = c == 'e' || c == 'E';
  switch (state_) {
    case State::kMinus:
      return c == '0' ? go(State::kZero) : digit ? go(State::kInteger) : Step::kError;
    case State::kPoint:
      return digit ? go(State::kFraction) : Step::kError;
    case State::kExponent:
      if (c == '+' || c == '-') return go(State::kExponentSign);
      return digit ? go(State::kExponentDigits) : Step::kError;
    case State::kExponentSign:
      return digit ? go(State::kExponentDigits) : Step::kError;
    case State::kZero:
    case State::kInteger:
      if (digit && state_ == State::kInteger) return Step::kMore;
      if (c == '.') return go(State::kPoint);
      if (exponent) return go(State::kExponent);
      break;
    case State::kFraction:
      if (digit) return Step::kMore;
      if (exponent) return go(State::kExponent);
      break;
    default:
      if (digit) return Step::kMore;
      break;
  }
  return end_value() == Step::kEnd ? Step::kEndBefore : feed_structure(c);
}

JsonScanner::Step JsonScanner::feed_structure(char c) {
  if (is_space(c)) return Step::kMore;
  switch (state_) {
    case State::kFirstItem:
    case State::kFirstKey:
    case State::kAfter: {
      const bool in_object = is_object_.back();
      if (c == (in_object ? '}' : ']')) {
        is_object_.pop_back();
        return end_value();
      }
      if (state_ == State::kFirstItem) return begin_value(c);
      if (state_ == State::kAfter) {
        return c == ',' ? go(in_object ? State::kKey : State::kValue) : Step::kError;
      }
      [[fallthrough]];
    }
    case State::kKey:
      is_key_ = true;
      return c == '"' ? go(State::kString) : Step::kError;
    case State::kColon:
      return c == ':' ? go(State::kValue) : Step::kError;
    case State::kValue:
      return begin_value(c);
    default:
      return Step::kError;
  }
}

bool JsonScanner::is_number_state() const {
  return state_ >= State::kMinus && state_ <= State::kExponentDigits;
}

JsonScanner::Step JsonScanner::feed(char c) {
  if (state_ == State::kString || state_ == State::kEscape || state_ == State::kHex) {
    return feed_string(c);
  }
  if (state_ == State::kLiteral) {
    if (c != literal_.front()) return Step::kError;
    literal_.remove_prefix(1);
    return literal_.empty() ? end_value() : Step::kMore;
  }
  return is_number_state() ? feed_number(c) : feed_structure(c);
}

bool JsonScanner::can_end() const {
  if (state_ == State::kDone) return true;
  if (!is_object_.empty()) return false;
  return state_ == State::kZero || state_ == State::kInteger || state_ == State::kFraction ||
         state_ == State::kExponentDigits;
}

bool is_json(std::string_view text) {
  text = trim(text);
  JsonScanner scanner;
  for (size_t i = 0; i < text.size(); ++i) {
    const JsonScanner::Step step = scanner.feed(text[i]);
    if (step == JsonScanner::Step::kEnd) return i + 1 == text.size();
    if (step != JsonScanner::Step::kMore) return false;
  }
  return scanner.can_end();
}

void append_json_string(std::string& out, std::string_view text) {
  out.push_back('"');
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out.push_back(c);
        }
    }
  }
  out.push_back('"');
}

void append_code_point(std::string& out, uint32_t code_point) {
  const bool is_character = (code_point < 0xd800 || code_point >= 0xe000) && code_point <= 0x10ffff;
  append_utf8(out, is_character ? code_point : 0xfffd);
}

namespace {

/// The number in the four hexadecimal digits at `i`, or 0.
uint32_t hex4(std::string_view text, size_t i) {
  uint32_t value = 0;
  if (i + 4 <= text.size()) std::from_chars(text.data() + i, text.data() + i + 4, value, 16);
  return value;
}

/// Decodes \uXXXX at `i` (the first digit), with a following low surrogate; returns the end.
size_t append_unicode_escape(std::string& out, std::string_view text, size_t i) {
  const uint32_t high = hex4(text, i);
  i += 4;
  const bool is_high = high >= 0xd800 && high < 0xdc00;
  if (is_high && text.substr(i, 2) == "\\u") {
    const uint32_t low = hex4(text, i + 2);
    if (low >= 0xdc00 && low < 0xe000) {
      append_code_point(out, 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
      return i + 6;
    }
  }
  append_code_point(out, high);
  return i;
}

}  // namespace

std::string decode_json_string(std::string_view quoted) {
  std::string out;
  if (quoted.size() < 2) return out;
  const std::string_view text = quoted.substr(1, quoted.size() - 2);
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out.push_back(text[i++]);
      continue;
    }
    const char c = text[i + 1];
    i += 2;
    switch (c) {
      case 'b':
        out.push_back('\b');
        break;
      case 'f':
        out.push_back('\f');
        break;
      case 'n':
        out.push_back('\n');
        break;
      case 'r':
        out.push_back('\r');
        break;
      case 't':
        out.push_back('\t');
        break;
      case 'u':
        i = append_unicode_escape(out, text, i);
        break;
      default:
        out.push_back(c);
    }
  }
  return out;
}

}  // namespace tandem
