#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer/added_tokens.h"

namespace tandem {

/// An entry of a tokenizer.json's vocabulary, spelled as the file does.
struct JsonToken {
  std::string text;
  int64_t id;
  double score = 0;  ///< unigram models only
};

/// A tokenizer.json taken apart. The vocabulary and the merges, nearly all of the file, are
/// streamed; the rest becomes small trees. The text it was read from must outlive it.
struct TokenizerJson {
  nlohmann::json top;    ///< without "model"
  nlohmann::json model;  ///< without "vocab" and "merges"
  std::string kind;      ///< "BPE" or "Unigram"
  std::vector<JsonToken> tokens;
  std::vector<AddedToken> added;  ///< none with an empty text
  std::string_view merges_text;

  /// Errors: kCorruptFile for a file that contradicts itself, kUnsupported for a kind of model we
  /// do not run.
  static Result<TokenizerJson> read(std::string_view text);

  /// Members of "model"; false or empty when they are missing.
  bool model_flag(const char* key) const;
  std::string model_text(const char* key) const;

  using MergeSink =
      std::function<Result<void>(uint32_t rank, const std::string& left, const std::string& right)>;
  /// Hands over the merges, "a b" or ["a", "b"], in order of rank.
  Result<void> for_each_merge(const MergeSink& sink) const;
};

}  // namespace tandem
