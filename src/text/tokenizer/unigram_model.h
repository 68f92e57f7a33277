#pragma once

#include <vector>

#include "text/tokenizer/added_tokens.h"
#include "text/tokenizer/token_model.h"
#include "text/tokenizer/vocabulary.h"

namespace tandem {

/// SentencePiece's unigram model: the cut of a text into tokens with the highest sum of scores
/// (Viterbi). Characters that no token covers become `unk`, runs of them a single one, or their
/// byte tokens.
class UnigramModel : public TokenModel {
 public:
  /// `vocabulary` must outlive the model; `scores` by token, in the precision they are stored with.
  UnigramModel(const Vocabulary& vocabulary, std::vector<double> scores, TokenId unk,
               bool byte_fallback);
  void encode(const Word& word, ModelScratch& scratch, TokenSink& sink) const override;

 private:
  void add_unknown(const Word& word, size_t from, size_t to, TokenSink& sink) const;

  const Vocabulary& vocabulary_;
  std::vector<double> scores_;
  TokenId unk_;
  bool byte_fallback_;
  double unk_score_;
  TokenTrie trie_;
};

}  // namespace tandem
