#include "text/tokenizer/unigram_model.h"

#include <algorithm>
#include <utility>

#include "text/unicode/utf8.h"

namespace tandem {
namespace {

/// SentencePiece's penalty of an unknown character below the worst token.
constexpr double kUnknownPenalty = 10.0;
constexpr TokenId kUnknown = -2;  ///< in ModelScratch::best: an unknown character

}  // namespace

UnigramModel::UnigramModel(const Vocabulary& vocabulary, std::vector<double> scores, TokenId unk,
                           bool byte_fallback)
    : vocabulary_(vocabulary),
      scores_(std::move(scores)),
      unk_(unk),
      byte_fallback_(byte_fallback) {
  double lowest = 0;
  bool first = true;
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    const double score = scores_[static_cast<size_t>(id)];
    lowest = first ? score : std::min(lowest, score);
    first = false;
    if (vocabulary.find(vocabulary.piece(id)) == id) {
      trie_.add(vocabulary.piece(id), static_cast<uint32_t>(id));
    }
  }
  unk_score_ = lowest - kUnknownPenalty;
}

void UnigramModel::encode(const Word& word, ModelScratch& scratch, TokenSink& sink) const {
  const std::string_view text = word.text;
  // Per byte position: the best path that ends there, its last token and that token's length.
  auto& scores = scratch.scores;
  auto& best = scratch.best;
  auto& lengths = scratch.lengths;
  scores.assign(text.size() + 1, 0.0);
  best.assign(text.size() + 1, kNoToken);
  lengths.assign(text.size() + 1, 0);
  const auto offer = [&](size_t from, size_t to, TokenId token, double score) {
    const double total = scores[from] + score;
    if (lengths[to] != 0 && !(total > scores[to])) return;
    scores[to] = total;
    best[to] = token;
    lengths[to] = static_cast<uint32_t>(to - from);
  };
  for (size_t pos = 0; pos < text.size();) {
    const size_t next = pos + decode_utf8(text, pos).length;
    bool covered = false;
    trie_.for_each_at(text, pos, [&](uint32_t token, size_t end) {
      offer(pos, end, static_cast<TokenId>(token), scores_[token]);
      covered = covered || end == next;
    });
    if (!covered) offer(pos, next, kUnknown, unk_score_);
    pos = next;
  }
  // Walk back from the end; scratch.queue holds the ends of the tokens in reverse.
  auto& ends = scratch.queue;
  ends.clear();
  for (size_t end = text.size(); end > 0; end -= lengths[end]) ends.push_back(end);
  for (size_t i = ends.size(); i-- > 0;) {
    const size_t from = ends[i] - lengths[ends[i]];
    if (best[ends[i]] != kUnknown) {
      sink.add(best[ends[i]], word, from, ends[i]);
      continue;
    }
    while (i > 0 && best[ends[i - 1]] == kUnknown) --i;
    add_unknown(word, from, ends[i], sink);
  }
}

void UnigramModel::add_unknown(const Word& word, size_t from, size_t to, TokenSink& sink) const {
  bool spelled = byte_fallback_;
  for (size_t i = from; i < to && spelled; ++i) {
    spelled = vocabulary_.byte_token(static_cast<uint8_t>(word.text[i])) != kNoToken;
  }
  if (!spelled) {
    if (unk_ != kNoToken) sink.add(unk_, word, from, to);
    return;
  }
  for (size_t i = from; i < to; ++i) {
    sink.add(vocabulary_.byte_token(static_cast<uint8_t>(word.text[i])), word, i, i + 1);
  }
}

}  // namespace tandem
