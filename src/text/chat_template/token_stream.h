#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/chat_template/lexer.h"

namespace tandem::jinja {

/// A position in the tokens of a template, and errors that point there.
class TokenStream {
 public:
  TokenStream(std::string_view source, std::vector<Token> tokens)
      : source_(source), tokens_(std::move(tokens)) {}

  const Token& current() const { return tokens_[at_]; }
  const Token& look_ahead() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  /// Moves on and returns the token passed; at the end it stays.
  const Token& next() {
    const Token& token = tokens_[at_];
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool is(TokenType type) const { return current().type == type; }
  bool is_operator(std::string_view op) const { return current().is_operator(op); }
  bool is_name(std::string_view name) const { return current().is_name(name); }
  bool skip_operator(std::string_view op) { return is_operator(op) && (next(), true); }
  bool skip_name(std::string_view name) { return is_name(name) && (next(), true); }

  Result<Token> expect(TokenType type);
  Result<void> expect_operator(std::string_view op);
  Result<void> expect_name(std::string_view name);

  template <class... Args>
  tl::unexpected<Error> error(ErrorCode code, size_t at, fmt::format_string<Args...> format,
                              Args&&... args) const {
    return failure(code, "{}: {}", place_of(source_, at),
                   fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  tl::unexpected<Error> error(size_t at, fmt::format_string<Args...> format, Args&&... args) const {
    return error(ErrorCode::kCorruptFile, at, format, std::forward<Args>(args)...);
  }

  /// A token, or a type of token, in the words of messages.
  static std::string describe(const Token& token);
  static std::string describe(TokenType type);

 private:
  std::string_view source_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace tandem::jinja
