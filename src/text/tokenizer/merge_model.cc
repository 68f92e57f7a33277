#include "text/tokenizer/merge_model.h"

#include "text/tokenizer/merge-inl.h"

// Most words of a text are tokens as they stand; for those one look-up replaces the merges.

namespace tandem {

MergeModel::MergeModel(const Vocabulary& vocabulary, bool ignore_merges)
    : vocabulary_(vocabulary),
      ignore_merges_(ignore_merges),
      whole_(new std::atomic<uint8_t>[static_cast<size_t>(vocabulary.size())]) {
  for (int32_t i = 0; i < vocabulary.size(); ++i) whole_[static_cast<size_t>(i)] = kNotTried;
}

// HOT: bench/tokenizer.
void MergeModel::encode(const Word& word, ModelScratch& scratch, TokenSink& sink) const {
  const TokenId token = vocabulary_.find(word.text);
  std::atomic<uint8_t>* whole = nullptr;
  if (token != kNoToken) {
    whole = &whole_[static_cast<size_t>(token)];
    if (ignore_merges_ || whole->load(std::memory_order_relaxed) == kStaysWhole) {
      sink.add(token, word, 0, word.text.size());
      return;
    }
  }
  merge(word.text, scratch);
  const auto& symbols = scratch.symbols;
  if (symbols.empty()) return;
  if (whole != nullptr) {
    const bool stays = symbols[0].id == token && symbols[0].next == kNoSymbol;
    whole->store(stays ? kStaysWhole : kSplits, std::memory_order_relaxed);
  }
  for (uint32_t i = 0; i != kNoSymbol; i = symbols[i].next) {
    const MergeSymbol& symbol = symbols[i];
    if (symbol.id != kNoToken) {
      sink.add(symbol.id, word, symbol.from, symbol.to);
    } else {
      add_unknown(word, symbol, sink);
    }
  }
}

}  // namespace tandem
