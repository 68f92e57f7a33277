#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer/tokenizer.h"

namespace tandem {

struct TextOptions {
  /// Lines that hold nothing but U+001E separate documents; the model's end token closes each, so
  /// that one document says nothing about the next. Otherwise the text is one piece.
  bool documents = false;
  /// Control tokens written in the text become tokens, for texts of rendered conversations.
  bool parse_special = false;
  /// Leave the newline at the end of the text out, as llama-perplexity does.
  bool drop_last_newline = false;
};

/// A text as a model reads it.
struct EvaluationText {
  std::string name;             ///< the file
  std::vector<TokenId> tokens;  ///< without BOS
  std::optional<TokenId> bos;   ///< what the model wants before each window
  size_t n_bytes = 0;
  size_t n_documents = 1;
};

/// Errors: those of Tokenizer::encode; kUnsupported when documents need an end token that the
/// vocabulary lacks, or when the model wants EOS after every text (a window has none).
Result<EvaluationText> tokenize_text(const std::string& name, std::string_view text,
                                     const Tokenizer& tokenizer, const TextOptions& options);

/// As tokenize_text, of the file at `path`.
Result<EvaluationText> load_text(const std::string& path, const Tokenizer& tokenizer,
                                 const TextOptions& options);

}  // namespace tandem
