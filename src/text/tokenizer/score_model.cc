#include "text/tokenizer/score_model.h"

#include <algorithm>
#include <functional>

#include "text/tokenizer/merge-inl.h"
#include "text/unicode/utf8.h"

namespace tandem {

ScoreModel::ScoreModel(const Vocabulary& vocabulary, TokenId unk)
    : MergeModel(vocabulary, false), unk_(unk) {
  std::vector<float> scores;
  for (TokenId id = 0; id < vocabulary.size(); ++id) scores.push_back(vocabulary.score(id));
  std::sort(scores.begin(), scores.end(), std::greater<>());
  scores.erase(std::unique(scores.begin(), scores.end()), scores.end());
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    const auto place =
        std::lower_bound(scores.begin(), scores.end(), vocabulary.score(id), std::greater<>());
    ranks_.push_back(static_cast<uint32_t>(place - scores.begin()));
  }
}

void ScoreModel::merge(std::string_view text, ModelScratch& scratch) const {
  scratch.symbols.clear();
  for (size_t pos = 0; pos < text.size();) {
    const size_t end = pos + decode_utf8(text, pos).length;
    append_symbol(scratch.symbols, vocabulary_.find(text.substr(pos, end - pos)), pos, end);
    pos = end;
  }
  const size_t longest = vocabulary_.longest_piece();
  const auto rule = [&](MergeSymbol& left, const MergeSymbol& right) {
    const size_t size = right.to - left.from;
    left.merged = size <= longest ? vocabulary_.find(text.substr(left.from, size)) : kNoToken;
    left.rank = left.merged == kNoToken ? kNoRank : ranks_[static_cast<size_t>(left.merged)];
  };
  merge_symbols(scratch, rule, rule);
}

void ScoreModel::add_unknown(const Word& word, const MergeSymbol& symbol, TokenSink& sink) const {
  for (size_t i = symbol.from; i < symbol.to; ++i) {
    TokenId id = vocabulary_.byte_token(static_cast<uint8_t>(word.text[i]));
    if (id == kNoToken) id = unk_;
    if (id != kNoToken) sink.add(id, word, i, i + 1);
  }
}

}  // namespace tandem
