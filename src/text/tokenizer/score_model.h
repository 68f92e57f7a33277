#pragma once

#include <vector>

#include "text/tokenizer/merge_model.h"

namespace tandem {

/// SentencePiece's BPE: two neighbours merge when their joint text is a token, those of the highest
/// score first. Characters without a token become byte tokens.
class ScoreModel : public MergeModel {
 public:
  /// Scores of `vocabulary` must be finite. `unk` stands for bytes that have no byte token;
  /// kNoToken drops them.
  ScoreModel(const Vocabulary& vocabulary, TokenId unk);

 protected:
  void merge(std::string_view text, ModelScratch& scratch) const override;
  void add_unknown(const Word& word, const MergeSymbol& symbol, TokenSink& sink) const override;

 private:
  TokenId unk_;
  std::vector<uint32_t> ranks_;  ///< by token: 0 for the highest score, equal scores equal ranks
};

}  // namespace tandem
