#include "text/chat_template/lexer.h"

// Cuts template source into tokens: text between tags, white space control, what tags contain.

#include <array>
#include <optional>

#include "text/chat_template/characters.h"
#include "text/chat_template/literals.h"
#include "text/chat_template/utf8.h"

namespace tandem::jinja {
namespace {

constexpr std::array<std::string_view, 6> kLongOperators = {"//", "**", "==", "!=", ">=", "<="};
constexpr std::string_view kShortOperators = "+-/*%~[](){}><=.:|,;";

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  Result<std::vector<Token>> run();

 private:
  /// A tag that begins at `at`: "{{", "{%" or "{#" and its sign ('-', '+' or 0).
  struct Opening {
    size_t at;
    char type;
    char sign;
  };

  std::optional<Opening> find_opening(size_t from) const;
  void add_text(std::string_view text, const Opening& before);
  Result<void> lex_comment();
  std::optional<size_t> match_raw(size_t at, std::string_view keyword, bool is_end) const;
  Result<void> lex_raw(size_t begin);
  Result<void> lex_tag(char type);
  bool at_tag_end(char type) const;
  void end_tag(char type);
  Result<void> lex_in_tag();
  Result<void> lex_operator();
  Result<void> track_bracket(char c);
  void lex_name();
  Result<void> lex_string();
  Result<void> lex_number();

  bool starts_with(std::string_view text, size_t at) const {
    return source_.substr(at, text.size()) == text;
  }
  char peek(size_t at) const { return at < source_.size() ? source_[at] : '\0'; }
  size_t skip_space(size_t at) const {
    return source_.size() - trim_start(source_.substr(at)).size();
  }
  void add(TokenType type, size_t at, std::string text = {}) {
    tokens_.push_back({type, static_cast<uint32_t>(at), std::move(text)});
  }
  template <class... Args>
  tl::unexpected<Error> error(size_t at, fmt::format_string<Args...> format, Args&&... args) const {
    return failure(ErrorCode::kCorruptFile, "{}: {}", place_of(source_, at),
                   fmt::format(format, std::forward<Args>(args)...));
  }

  const std::string_view source_;
  size_t at_ = 0;
  bool line_starting_ = true;  ///< the last thing cut off ended with a newline
  std::string brackets_;       ///< closing brackets that are owed
  std::vector<Token> tokens_;
};

std::optional<Lexer::Opening> Lexer::find_opening(size_t from) const {
  for (size_t at = source_.find('{', from); at != std::string_view::npos;
       at = source_.find('{', at + 1)) {
    const char type = peek(at + 1);
    if (type != '{' && type != '%' && type != '#') continue;
    const char sign = peek(at + 2);
    return Opening{at, type, sign == '-' || sign == '+' ? sign : '\0'};
  }
  return std::nullopt;
}

/// Adds the text before a tag, trimmed as the tag asks for.
void Lexer::add_text(std::string_view text, const Opening& before) {
  const size_t begin = static_cast<size_t>(text.data() - source_.data());
  if (before.sign == '-') {
    text = trim_end(text);
  } else if (before.sign != '+' && before.type != '{') {
    const size_t newline = text.rfind('\n');
    const size_t line = newline == std::string_view::npos ? 0 : newline + 1;
    const bool only_space = trim_start(text.substr(line)).empty();
    if ((line > 0 || line_starting_) && only_space) text = text.substr(0, line);
  }
  if (!text.empty()) add(TokenType::kData, begin, std::string(text));
}

Result<void> Lexer::lex_comment() {
  const size_t end = source_.find("#}", at_);
  if (end == std::string_view::npos) return error(at_, "Missing end of comment tag");
  const char sign = end > at_ ? source_[end - 1] : '\0';
  at_ = end + 2;
  if (sign == '-') {
    at_ = skip_space(at_);
  } else if (sign != '+' && peek(at_) == '\n') {
    ++at_;
  }
  line_starting_ = source_[at_ - 1] == '\n';
  return {};
}

/// The end of "{% raw %}" or "{% endraw %}" at `at`, white space that it eats included.
std::optional<size_t> Lexer::match_raw(size_t at, std::string_view keyword, bool is_end) const {
  if (!starts_with("{%", at)) return std::nullopt;
  at += 2;
  if (peek(at) == '-' || peek(at) == '+') ++at;
  at = skip_space(at);
  if (!starts_with(keyword, at)) return std::nullopt;
  at = skip_space(at + keyword.size());
  if (starts_with("-%}", at)) return skip_space(at + 3);
  if (is_end && starts_with("+%}", at)) return at + 3;
  if (!starts_with("%}", at)) return std::nullopt;
  at += 2;
  return is_end && peek(at) == '\n' ? at + 1 : at;
}

Result<void> Lexer::lex_raw(size_t begin) {
  line_starting_ = source_[at_ - 1] == '\n';
  const size_t text_begin = at_;
  for (size_t at = source_.find("{%", at_); at != std::string_view::npos;
       at = source_.find("{%", at + 1)) {
    const auto end = match_raw(at, "endraw", true);
    if (!end) continue;
    const char sign = peek(at + 2);
    add_text(source_.substr(text_begin, at - text_begin),
             {at, '%', sign == '-' || sign == '+' ? sign : '\0'});
    at_ = *end;
    line_starting_ = source_[at_ - 1] == '\n';
    return {};
  }
  return error(begin, "Missing end of raw directive");
}

bool Lexer::at_tag_end(char type) const {
  if (!brackets_.empty()) return false;
  const std::string_view end = type == '{' ? "}}" : "%}";
  if (starts_with(end, at_)) return true;
  const char sign = peek(at_);
  return (sign == '-' || (sign == '+' && type == '%')) && starts_with(end, at_ + 1);
}

void Lexer::end_tag(char type) {
  add(type == '{' ? TokenType::kVariableEnd : TokenType::kBlockEnd, at_);
  const char sign = source_[at_];
  at_ += sign == '-' || sign == '+' ? 3 : 2;
  if (sign == '-') {
    at_ = skip_space(at_);
  } else if (sign != '+' && type == '%' && peek(at_) == '\n') {
    ++at_;
  }
  line_starting_ = source_[at_ - 1] == '\n';
}

Result<void> Lexer::lex_tag(char type) {
  brackets_.clear();
  while (at_ < source_.size()) {
    if (at_tag_end(type)) {
      end_tag(type);
      return {};
    }
    const size_t after_space = skip_space(at_);
    if (after_space != at_) {
      at_ = after_space;
      continue;
    }
    TANDEM_TRY(lex_in_tag());
  }
  return {};  // the parser reports the end of the template where it expected something
}

Result<void> Lexer::lex_in_tag() {
  const char c = source_[at_];
  if (c >= '0' && c <= '9') return lex_number();
  if (c == '\'' || c == '"') return lex_string();
  size_t after = at_;
  const char32_t code_point = next_code_point(source_, after);
  if (code_point == '_' || is_alnum(code_point) || is_id_continue(code_point)) {
    const size_t begin = at_;
    lex_name();
    size_t first = begin;
    if (!is_id_start(next_code_point(source_, first))) {
      return error(begin, "Invalid character in identifier");
    }
    return {};
  }
  return lex_operator();
}

void Lexer::lex_name() {
  const size_t begin = at_;
  while (at_ < source_.size()) {
    size_t after = at_;
    const char32_t c = next_code_point(source_, after);
    if (c != '_' && !is_alnum(c) && !is_id_continue(c)) break;
    at_ = after;
  }
  add(TokenType::kName, begin, std::string(source_.substr(begin, at_ - begin)));
}

Result<void> Lexer::lex_string() {
  const size_t begin = at_;
  const char quote = source_[at_++];
  while (at_ < source_.size() && source_[at_] != quote) at_ += source_[at_] == '\\' ? 2 : 1;
  if (at_ >= source_.size()) {
    return error(begin, "unexpected char {}: the string has no end",
                 quote == '"' ? "'\"'" : "\"'\"");
  }
  const auto value = unescaped(source_.substr(begin + 1, at_ - begin - 1));
  if (!value) return error(begin, "{}", value.error().message);
  ++at_;
  add(TokenType::kString, begin, *value);
  return {};
}

Result<void> Lexer::lex_number() {
  const size_t begin = at_;
  const bool after_dot = begin > 0 && source_[begin - 1] == '.';
  const NumberLiteral number = scan_number(source_.substr(begin), !after_dot);
  at_ += number.length;
  if (number.too_large) return error(begin, "the integer does not fit in 128 bits");
  add(number.is_float ? TokenType::kFloat : TokenType::kInteger, begin);
  tokens_.back().integer = number.integer;
  tokens_.back().real = number.real;
  return {};
}

Result<void> Lexer::lex_operator() {
  for (const std::string_view op : kLongOperators) {
    if (!starts_with(op, at_)) continue;
    add(TokenType::kOperator, at_, std::string(op));
    at_ += op.size();
    return {};
  }
  const char c = source_[at_];
  if (kShortOperators.find(c) == std::string_view::npos) {
    size_t after = at_;
    next_code_point(source_, after);
    return error(at_, "unexpected char '{}'", source_.substr(at_, after - at_));
  }
  TANDEM_TRY(track_bracket(c));
  add(TokenType::kOperator, at_, std::string(1, c));
  ++at_;
  return {};
}

Result<void> Lexer::track_bracket(char c) {
  if (c == '(') brackets_ += ')';
  if (c == '[') brackets_ += ']';
  if (c == '{') brackets_ += '}';
  if (c != ')' && c != ']' && c != '}') return {};
  if (brackets_.empty()) return error(at_, "unexpected '{}'", c);
  const char expected = brackets_.back();
  brackets_.pop_back();
  if (expected != c) return error(at_, "unexpected '{}', expected '{}'", c, expected);
  return {};
}

Result<std::vector<Token>> Lexer::run() {
  while (at_ < source_.size()) {
    const size_t begin = at_;
    const auto opening = find_opening(begin);
    if (!opening) {
      add(TokenType::kData, begin, std::string(source_.substr(begin)));
      at_ = source_.size();
      break;
    }
    add_text(source_.substr(begin, opening->at - begin), *opening);
    if (const auto raw_end = match_raw(opening->at, "raw", false)) {
      at_ = *raw_end;
      TANDEM_TRY(lex_raw(opening->at));
      continue;
    }
    at_ = opening->at + (opening->sign != 0 ? 3 : 2);
    line_starting_ = false;
    if (opening->type == '#') {
      TANDEM_TRY(lex_comment());
      continue;
    }
    const bool variable = opening->type == '{';
    add(variable ? TokenType::kVariableBegin : TokenType::kBlockBegin, opening->at);
    TANDEM_TRY(lex_tag(opening->type));
  }
  add(TokenType::kEof, source_.size());
  return std::move(tokens_);
}

}  // namespace

std::string normalized_source(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      if (i + 1 < source.size() && source[i + 1] == '\n') continue;
      out += '\n';
    } else {
      out += source[i];
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

Result<std::vector<Token>> tokenize(std::string_view source) { return Lexer(source).run(); }

std::string place_of(std::string_view source, size_t at) {
  const std::string_view before = source.substr(0, at);
  size_t line = 1, begin = 0;
  for (size_t i = before.find('\n'); i != std::string_view::npos; i = before.find('\n', i + 1)) {
    ++line;
    begin = i + 1;
  }
  return fmt::format("line {}, column {}", line, count_code_points(before.substr(begin)) + 1);
}

}  // namespace tandem::jinja
