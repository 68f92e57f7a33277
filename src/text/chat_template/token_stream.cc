#include "text/chat_template/token_stream.h"

// What the parser expects next, and how messages name it.

namespace tandem::jinja {

Result<Token> TokenStream::expect(TokenType type) {
  if (is(type)) return next();
  return error(current().at, "expected token '{}', got '{}'", describe(type), describe(current()));
}

Result<void> TokenStream::expect_operator(std::string_view op) {
  if (skip_operator(op)) return {};
  return error(current().at, "expected token '{}', got '{}'", op, describe(current()));
}

Result<void> TokenStream::expect_name(std::string_view name) {
  if (skip_name(name)) return {};
  return error(current().at, "expected token '{}', got '{}'", name, describe(current()));
}

std::string TokenStream::describe(TokenType type) {
  switch (type) {
    case TokenType::kData:
      return "template data / text";
    case TokenType::kVariableBegin:
      return "begin of print statement";
    case TokenType::kVariableEnd:
      return "end of print statement";
    case TokenType::kBlockBegin:
      return "begin of statement block";
    case TokenType::kBlockEnd:
      return "end of statement block";
    case TokenType::kName:
      return "name";
    case TokenType::kString:
      return "string";
    case TokenType::kInteger:
      return "integer";
    case TokenType::kFloat:
      return "float";
    case TokenType::kOperator:
      return "operator";
    case TokenType::kEof:
      return "end of template";
  }
  return "token";
}

std::string TokenStream::describe(const Token& token) {
  if (token.type == TokenType::kName || token.type == TokenType::kOperator) return token.text;
  return describe(token.type);
}

}  // namespace tandem::jinja
