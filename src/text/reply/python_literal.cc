// Python literals as models write them in calls, turned into JSON.

#include "text/reply/python_literal.h"

#include <charconv>
#include <cstdint>

#include "text/reply/json_scanner.h"
#include "text/reply/marker.h"

namespace tandem {
namespace {

constexpr int kMaxDepth = 64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_char(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Recursive descent over one literal; recursion is bounded by kMaxDepth.
class PythonReader {
 public:
  PythonReader(std::string_view text, std::string& out) : text_(text), out_(out) {}

  bool value(int depth);
  bool arguments();
  bool is_at_end() {
    skip_space();
    return text_.empty();
  }

 private:
  void skip_space() {
    while (!text_.empty() && is_space(text_.front())) text_.remove_prefix(1);
  }
  bool take(char c) {
    skip_space();
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool items(char close, int depth);
  bool dict(int depth);
  bool key();
  bool number();
  bool word();
  size_t string_prefix() const;
  bool string(std::string& content);
  bool string_body(std::string_view mark, bool is_raw, std::string& content);
  void escape(std::string& content);
  void hex_escape(size_t n_digits, std::string& content);

  std::string_view text_;
  std::string& out_;
};

bool PythonReader::value(int depth) {
  skip_space();
  if (text_.empty() || depth > kMaxDepth) return false;
  const char c = text_.front();
  if (string_prefix() < text_.size()) {
    std::string content;
    if (!string(content)) return false;
    append_json_string(out_, content);
    return true;
  }
  if (take('[')) return items(']', depth);
  if (take('(')) return items(')', depth);
  if (take('{')) return dict(depth);
  return is_digit(c) || c == '-' || c == '+' || c == '.' ? number() : word();
}

bool PythonReader::items(char close, int depth) {
  out_ += '[';
  for (bool is_first = true; !take(close); is_first = false) {
    if (!is_first) {
      if (!take(',')) return false;
      if (take(close)) break;
      out_ += ", ";
    }
    if (!value(depth + 1)) return false;
  }
  out_ += ']';
  return true;
}

bool PythonReader::dict(int depth) {
  out_ += '{';
  for (bool is_first = true; !take('}'); is_first = false) {
    if (!is_first) {
      if (!take(',')) return false;
      if (take('}')) break;
      out_ += ", ";
    }
    if (!key() || !take(':')) return false;
    out_ += ": ";
    if (!value(depth + 1)) return false;
  }
  out_ += '}';
  return true;
}

/// JSON's keys are strings: other keys are written as one.
bool PythonReader::key() {
  const size_t start = out_.size();
  if (!value(kMaxDepth)) return false;
  if (out_[start] == '"') return true;
  const std::string text = out_.substr(start);
  out_.resize(start);
  append_json_string(out_, text);
  return text.front() != '[' && text.front() != '{';
}

bool PythonReader::number() {
  std::string digits;
  while (!text_.empty()) {
    const char c = text_.front();
    const bool is_sign =
        (c == '-' || c == '+') && (digits.empty() || digits.back() == 'e' || digits.back() == 'E');
    if (!is_digit(c) && c != '.' && c != 'e' && c != 'E' && c != '_' && !is_sign) break;
    if (c != '_') digits += c;
    text_.remove_prefix(1);
  }
  if (digits.starts_with('+')) digits.erase(0, 1);
  const size_t first = digits.starts_with('-') ? 1 : 0;
  if (digits.size() > first && digits[first] == '.') digits.insert(first, "0");
  const size_t point = digits.find('.');
  if (point != std::string::npos && (point + 1 == digits.size() || !is_digit(digits[point + 1]))) {
    digits.insert(point + 1, "0");
  }
  if (!is_json(digits)) return false;
  out_ += digits;
  return true;
}

bool PythonReader::word() {
  size_t n = 0;
  while (n < text_.size() && is_name_char(text_[n])) ++n;
  const std::string_view word = text_.substr(0, n);
  std::string_view json;
  if (word == "True" || word == "true") json = "true";
  if (word == "False" || word == "false") json = "false";
  if (word == "None" || word == "null") json = "null";
  if (json.empty()) return false;
  text_.remove_prefix(n);
  out_ += json;
  return true;
}

/// Where the quotation mark of a string literal stands (after r, b, u or f), or text_.size().
size_t PythonReader::string_prefix() const {
  size_t n = 0;
  while (n < 2 && n < text_.size() &&
         std::string_view("rRbBuUfF").find(text_[n]) != std::string_view::npos) {
    ++n;
  }
  const bool is_string = n < text_.size() && (text_[n] == '"' || text_[n] == '\'');
  return is_string ? n : text_.size();
}

/// One literal, or several side by side, which Python joins.
bool PythonReader::string(std::string& content) {
  for (skip_space(); string_prefix() < text_.size(); skip_space()) {
    const size_t n = string_prefix();
    const bool is_raw = text_.substr(0, n).find_first_of("rR") != std::string_view::npos;
    text_.remove_prefix(n);
    const std::string_view triple = text_.substr(0, 3);
    const bool is_triple = triple == "\"\"\"" || triple == "'''";
    const std::string_view mark = text_.substr(0, is_triple ? 3 : 1);
    text_.remove_prefix(mark.size());
    if (!string_body(mark, is_raw, content)) return false;
  }
  return true;
}

bool PythonReader::string_body(std::string_view mark, bool is_raw, std::string& content) {
  while (!text_.starts_with(mark)) {
    if (text_.empty()) return false;
    if (text_.front() != '\\' || text_.size() == 1) {
      content += text_.front();
      text_.remove_prefix(1);
    } else if (is_raw) {
      content += text_.substr(0, 2);
      text_.remove_prefix(2);
    } else {
      escape(content);
    }
  }
  text_.remove_prefix(mark.size());
  return true;
}

void PythonReader::escape(std::string& content) {
  const char c = text_[1];
  text_.remove_prefix(2);
  switch (c) {
    case 'n':
      content += '\n';
      break;
    case 't':
      content += '\t';
      break;
    case 'r':
      content += '\r';
      break;
    case 'b':
      content += '\b';
      break;
    case 'f':
      content += '\f';
      break;
    case 'v':
      content += '\v';
      break;
    case '0':
      content += '\0';
      break;
    case '\n':
      break;
    case 'x':
      return hex_escape(2, content);
    case 'u':
      return hex_escape(4, content);
    case 'U':
      return hex_escape(8, content);
    case '\\':
    case '\'':
    case '"':
      content += c;
      break;
    default:  // Python keeps an unknown escape as it is
      content += '\\';
      content += c;
  }
}

void PythonReader::hex_escape(size_t n_digits, std::string& content) {
  const std::string_view digits = text_.substr(0, n_digits);
  uint32_t code_point = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), code_point, 16);
  const auto n = static_cast<size_t>(parsed.ptr - digits.data());
  append_code_point(content, n == n_digits ? code_point : 0xfffd);
  text_.remove_prefix(n);
}

bool PythonReader::arguments() {
  out_ += '{';
  for (bool is_first = true; !is_at_end(); is_first = false) {
    if (!is_first) {
      if (!take(',')) return false;
      if (is_at_end()) break;
      out_ += ", ";
    }
    skip_space();
    size_t n = 0;
    while (n < text_.size() && is_name_char(text_[n])) ++n;
    if (n == 0) return false;
    append_json_string(out_, text_.substr(0, n));
    text_.remove_prefix(n);
    if (!take('=')) return false;
    out_ += ": ";
    if (!value(0)) return false;
  }
  out_ += '}';
  return true;
}

}  // namespace

bool append_python_value(std::string& out, std::string_view text) {
  std::string json;
  PythonReader reader(text, json);
  if (!reader.value(0) || !reader.is_at_end()) return false;
  out += json;
  return true;
}

bool append_python_arguments(std::string& out, std::string_view text) {
  std::string json;
  if (!PythonReader(text, json).arguments()) return false;
  out += json;
  return true;
}

size_t python_name_length(std::string_view text) {
  size_t n = 0;
  while (n < text.size() &&
         (is_name_char(text[n]) || (n > 0 && (text[n] == '.' || text[n] == '-')))) {
    ++n;
  }
  return n > 0 && is_digit(text.front()) ? 0 : n;
}

bool PythonScanner::feed(char c) { return quote_ == Quote::kNone ? feed_plain(c) : feed_quoted(c); }

bool PythonScanner::feed_plain(char c) {
  if (c == '"' || c == '\'') {
    mark_ = c;
    quote_ = Quote::kOpened;
  } else if (c == '(' || c == '[' || c == '{') {
    ++depth_;
  } else if (c == ')' || c == ']' || c == '}') {
    if (depth_ == 0) return true;
    --depth_;
  }
  return false;
}

bool PythonScanner::feed_quoted(char c) {
  const bool is_mark = c == mark_ && !is_escape_;
  switch (quote_) {
    case Quote::kOpened:
      quote_ = is_mark ? Quote::kMaybeEmpty : Quote::kSingle;
      break;
    case Quote::kMaybeEmpty:  // "" stood before: the empty string, or two of three marks
      if (!is_mark) {
        quote_ = Quote::kNone;
        return feed_plain(c);
      }
      quote_ = Quote::kTriple;
      n_marks_ = 0;
      return false;
    case Quote::kTriple:
      n_marks_ = is_mark ? n_marks_ + 1 : 0;
      if (n_marks_ == 3) quote_ = Quote::kNone;
      break;
    default:
      if (is_mark) quote_ = Quote::kNone;
  }
  is_escape_ = !is_escape_ && c == '\\' && quote_ != Quote::kNone;
  return false;
}

}  // namespace tandem
