#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/chat_template/value.h"

namespace tandem::jinja {

enum class TokenType : uint8_t {
  kData,  ///< text outside tags, white space already trimmed
  kVariableBegin,
  kVariableEnd,
  kBlockBegin,
  kBlockEnd,
  kName,
  kString,  ///< text holds the value, escapes resolved
  kInteger,
  kFloat,
  kOperator,  ///< text holds the operator
  kEof,
};

struct Token {
  TokenType type;
  uint32_t at;  ///< byte offset in the source
  std::string text;
  Int integer = 0;
  double real = 0;

  bool is_name(std::string_view name) const { return type == TokenType::kName && text == name; }
  bool is_operator(std::string_view op) const { return type == TokenType::kOperator && text == op; }
};

/// The source as Jinja2 reads it: every line end is \n, one at the very end is left out.
std::string normalized_source(std::string_view source);

/// Cuts normalized source into tokens, with trim_blocks and lstrip_blocks on. The last token is
/// kEof. Errors name line and column.
Result<std::vector<Token>> tokenize(std::string_view source);

/// "line L, column C" of a byte offset, both from 1; columns count code points.
std::string place_of(std::string_view source, size_t at);

}  // namespace tandem::jinja
