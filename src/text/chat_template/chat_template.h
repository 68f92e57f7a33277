#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.h"

namespace tandem {

namespace jinja {
struct Program;
}

/// What a template may use up. Templates are untrusted input: crossing a limit is an Error that
/// names the limit, never a hang, an abort or memory without bound.
struct ChatTemplateLimits {
  uint64_t max_steps = 50'000'000;              ///< evaluated nodes, plus one per 64 bytes of text
  size_t max_output_bytes = size_t{64} << 20;   ///< length of the rendered text
  size_t max_memory_bytes = size_t{256} << 20;  ///< strings, lists and scopes alive at one time
  /// Nested evaluations (macros, loops, expressions). The default needs up to 1 MiB of stack.
  uint32_t max_depth = 800;
};

/// A chat template: Jinja source parsed once, rendered for many conversations, exactly as Hugging
/// Face transformers renders it with Python's Jinja2 (docs/chat_templates.md).
/// Immutable; any number of threads may render the same object.
///
///   TANDEM_TRY(const auto chat, ChatTemplate::parse(source));
///   nlohmann::ordered_json variables = {{"messages", {{{"role", "user"}, {"content", "Hi"}}}},
///                                       {"add_generation_prompt", true}};
///   TANDEM_TRY(const std::string prompt, chat.render(variables));
class ChatTemplate {
 public:
  using Limits = ChatTemplateLimits;

  /// Takes UTF-8 source. Errors: kCorruptFile with line and column (both from 1) for source that is
  /// not valid UTF-8 or not Jinja; kUnsupported likewise for what the sandbox leaves out (include,
  /// import, extends, unknown filters and tests).
  static Result<ChatTemplate> parse(std::string source);

  /// Renders. `variables` is an object whose members are the template's variables: messages, tools,
  /// add_generation_prompt, bos_token, eos_token, enable_thinking, ... A variable that is absent is
  /// undefined in the template; null is None. `strftime_now`, when a string, is what the template
  /// function strftime_now(format) returns; otherwise that function formats the local time.
  /// Errors:
  ///   kInvalidArgument  the template refused the conversation by raise_exception; the message is
  ///                     the template's own and nothing else
  ///   kCorruptFile      the template failed (an undefined value used, a type error): "line L,
  ///                     column C: ..."
  ///   kUnsupported      a limit was reached: "line L, column C: ..." names it
  Result<std::string> render(const nlohmann::ordered_json& variables,
                             const Limits& limits = {}) const;

  /// The source as given to parse().
  const std::string& source() const;

 private:
  explicit ChatTemplate(std::shared_ptr<const jinja::Program> program);

  std::shared_ptr<const jinja::Program> program_;
};

}  // namespace tandem
