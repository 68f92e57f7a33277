#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "text/tokenizer/pre_tokenizer.h"

namespace tandem {

/// What a `tokenizer.ggml.pre` name stands for.
struct NamedPreTokenizer {
  PreTokenizer pre_tokenizer;
  /// A word that is a token as a whole is taken without merging.
  bool ignore_merges = false;
  /// BOS is added where the metadata does not say.
  bool adds_bos = false;
  /// Merges start from characters and spaces are written U+2581, as SentencePiece does, instead of
  /// from bytes.
  bool characters = false;
};

/// Errors: kUnsupported listing every name.
Result<NamedPreTokenizer> pre_tokenizer_by_name(std::string_view name);

/// All names, separated by ", ".
std::string pre_tokenizer_names();

/// The name of a pre-tokenizer that cuts as `wanted` does, judged by a text of contractions, digit
/// runs, white space and many scripts; empty when there is none. One with the same `ignore_merges`
/// is preferred. Errors: those of `wanted` on that text.
Result<std::string> pre_tokenizer_name_of(const PreTokenizer& wanted, bool ignore_merges);

/// That text, which ends and begins with letters.
std::string_view pre_tokenizer_probe();

}  // namespace tandem
