#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "text/tokenizer/token_model.h"
#include "text/tokenizer/vocabulary.h"

namespace tandem {

/// What the models that merge pairs of symbols have in common.
class MergeModel : public TokenModel {
 public:
  void encode(const Word& word, ModelScratch& scratch, TokenSink& sink) const override;

 protected:
  /// `vocabulary` must outlive the model. `ignore_merges`: a word that is a token as a whole is
  /// taken without merging.
  MergeModel(const Vocabulary& vocabulary, bool ignore_merges);

  /// Leaves the merged symbols of `text` in scratch.symbols.
  virtual void merge(std::string_view text, ModelScratch& scratch) const = 0;
  /// A symbol for which the vocabulary has no token.
  virtual void add_unknown(const Word& word, const MergeSymbol& symbol, TokenSink& sink) const = 0;

  const Vocabulary& vocabulary_;

 private:
  enum WholeWord : uint8_t { kNotTried, kStaysWhole, kSplits };

  bool ignore_merges_;
  /// Whether merging the bytes of a token gives that token back, found out once for each token
  /// that occurs. Threads may find the same answer twice, never different ones.
  std::unique_ptr<std::atomic<uint8_t>[]> whole_;
};

}  // namespace tandem
