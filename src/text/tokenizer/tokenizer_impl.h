#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/tokenizer/added_tokens.h"
#include "text/tokenizer/normalizer.h"
#include "text/tokenizer/pre_tokenizer.h"
#include "text/tokenizer/token_model.h"
#include "text/tokenizer/tokenizer.h"
#include "text/tokenizer/vocabulary.h"

namespace tandem {

/// Everything a tokenizer is made of. The loaders fill it in; tokenizer.cc runs it.
class Tokenizer::Impl {
 public:
  Vocabulary vocabulary;
  AddedTokens added;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::string pre_tokenizer_name;
  std::unique_ptr<const TokenModel> model;

  /// A space goes before text that begins the input (SentencePiece's dummy prefix).
  bool space_before_text = false;
  /// Decoding takes away one space that begins the text.
  bool strip_first_space = false;
  /// Put before and after the text when add_special is on.
  std::vector<TokenId> before_text;
  std::vector<TokenId> after_text;

  std::optional<TokenId> bos, eos, eot, eom, pad, unk;
  std::vector<TokenId> end_of_generation;  ///< sorted
};

/// Lets the pre-tokenizer cut before runs of spaces where that cannot change any token: behind
/// bytes that no token has a space after, so that no merge crosses such a place.
void cut_before_spaces_where_exact(Tokenizer::Impl& impl);

}  // namespace tandem
