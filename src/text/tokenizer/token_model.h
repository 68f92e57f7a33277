#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/token_id.h"

namespace tandem {

/// A piece of text between two cuts of the pre-tokenizer.
struct Word {
  std::string_view text;
  /// Where it lies in the normalised text.
  size_t begin = 0;
  /// Leading bytes of `text` that a prefix rule put there and the normalised text does not have.
  size_t n_added = 0;

  /// The part [from, to) of this word's text.
  Word part(size_t from, size_t to) const {
    const size_t before = from < n_added ? from : n_added;
    const size_t added = to < n_added ? to : n_added;
    return {text.substr(from, to - from), begin + from - before, added - before};
  }
};

/// Collects what models produce: ids, and where each came from when asked.
class TokenSink {
 public:
  struct Span {
    size_t begin;  ///< in the normalised text
    size_t end;
  };
  TokenSink(std::vector<TokenId>& ids, std::vector<Span>* spans) : ids_(ids), spans_(spans) {}

  /// A token made of the bytes [from, to) of the word's text.
  void add(TokenId token, const Word& word, size_t from, size_t to) {
    ids_.push_back(token);
    if (spans_ == nullptr) return;
    const Word part = word.part(from, to);
    spans_->push_back({part.begin, part.begin + part.text.size() - part.n_added});
  }

 private:
  std::vector<TokenId>& ids_;
  std::vector<Span>* spans_;
};

/// One state of a merge in progress, indexed by the symbol's first place in the word.
struct MergeSymbol {
  TokenId id;
  uint32_t from;  ///< bytes [from, to) of the word
  uint32_t to;
  uint32_t previous;
  uint32_t next;
  /// The merge of this symbol with the next one: its rank (kNoRank when there is none) and result.
  uint32_t rank;
  TokenId merged;
};

/// Working memory of one encode call, reused from word to word.
struct ModelScratch {
  std::vector<MergeSymbol> symbols;
  std::vector<uint64_t> queue;
  std::vector<double> scores;
  std::vector<TokenId> best;
  std::vector<uint32_t> lengths;
};

/// Turns words into tokens. Immutable; the scratch belongs to the caller.
class TokenModel {
 public:
  virtual ~TokenModel() = default;
  virtual void encode(const Word& word, ModelScratch& scratch, TokenSink& sink) const = 0;
};

}  // namespace tandem
