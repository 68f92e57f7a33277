#include "text/chat_template/chat_template.h"

// The public face of the template engine.

#include <nlohmann/json.hpp>

#include "text/chat_template/interpreter.h"
#include "text/chat_template/parser.h"

namespace tandem {

ChatTemplate::ChatTemplate(std::shared_ptr<const jinja::Program> program)
    : program_(std::move(program)) {}

Result<ChatTemplate> ChatTemplate::parse(std::string source) {
  TANDEM_TRY(auto program, jinja::parse_program(std::move(source)));
  return ChatTemplate(std::move(program));
}

Result<std::string> ChatTemplate::render(const nlohmann::ordered_json& variables,
                                         const Limits& limits) const {
  if (!variables.is_object()) {
    return failure(ErrorCode::kInvalidArgument, "template variables must be a JSON object, not {}",
                   variables.type_name());
  }
  return jinja::Interpreter(*program_, variables, limits).run();
}

const std::string& ChatTemplate::source() const { return program_->source; }

}  // namespace tandem
