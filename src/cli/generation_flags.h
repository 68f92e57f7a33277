#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "engine/conversation.h"

namespace tandem::cli {

/// The flags of every command that generates text.
struct GenerationFlags {
  SamplingOptions sampling;
  std::vector<std::string> logit_bias;  ///< "ID=VALUE"
  std::vector<std::string> scripts;     ///< of the reply's characters; empty: any
  GenerationOptions generation;
  ConversationOptions conversation;
  std::string template_file;
  std::string tools_file;
  std::vector<std::string> template_variables;  ///< "NAME=JSON"
  bool stats = false;
};

void add_generation_flags(CLI::App& command, GenerationFlags& flags);

/// Reads the files and parses the pairs that the flags name. Errors: kInvalidArgument naming flag
/// and value; those of reading a file.
Result<void> complete(GenerationFlags& flags);

/// The sampler that the flags describe, with its constraint. The engine must outlive it. Errors:
/// kInvalidArgument naming the option, its value and what it may be.
Result<Sampler> create_sampler(const GenerationFlags& flags, const Engine& engine);

/// A whole file as text that must be UTF-8; a byte order mark is dropped. "-" is standard input.
/// Errors name the offset of the first invalid byte.
Result<std::string> read_text(const std::string& path);

/// Drops a byte order mark and checks that `text` is UTF-8. `subject` names it in the error.
Result<std::string> checked_utf8(std::string text, const std::string& subject);

}  // namespace tandem::cli
