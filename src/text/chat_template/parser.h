#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "text/chat_template/ast.h"

namespace tandem::jinja {

/// Parses a template. Errors as ChatTemplate::parse states them.
Result<std::shared_ptr<const Program>> parse_program(std::string source);

}  // namespace tandem::jinja
