#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "text/tokenizer/token_model.h"

// The merge loop of byte pair encoding, shared by the models that differ only in which pairs merge.

namespace tandem {

inline constexpr uint32_t kNoRank = UINT32_MAX;
inline constexpr uint32_t kNoSymbol = UINT32_MAX;

/// Up to this many symbols a scan for the best pair beats a queue (words are mostly shorter).
inline constexpr size_t kScanLimit = 48;

/// Appends a symbol at the end of the list.
inline void append_symbol(std::vector<MergeSymbol>& symbols, TokenId id, size_t from, size_t to) {
  const auto index = static_cast<uint32_t>(symbols.size());
  if (index > 0) symbols.back().next = index;
  symbols.push_back({id, static_cast<uint32_t>(from), static_cast<uint32_t>(to),
                     index > 0 ? index - 1 : kNoSymbol, kNoSymbol, kNoRank, kNoToken});
}

/// `rule(left, right)` sets left.rank and left.merged. Merges the pair of lowest rank first, the
/// leftmost among equals, until none is left. Removed symbols are unlinked; symbol 0 stays first.
/// Costs O(n log n): every merge removes a symbol and queues at most two pairs.
template <class Rule>
class Merger {
 public:
  Merger(std::vector<MergeSymbol>& symbols, std::vector<uint64_t>& queue, const Rule& rule)
      : symbols_(symbols), queue_(queue), rule_(rule) {}

  /// Pairs have their first ranks already.
  void run() {
    if (symbols_.empty()) return;
    if (symbols_.size() <= kScanLimit) {
      run_by_scan();
    } else {
      run_by_queue();
    }
  }

 private:
  void run_by_scan() {
    while (true) {
      uint32_t best = kNoSymbol;
      uint32_t best_rank = kNoRank;
      for (uint32_t i = 0; i != kNoSymbol; i = symbols_[i].next) {
        if (symbols_[i].rank < best_rank) {
          best_rank = symbols_[i].rank;
          best = i;
        }
      }
      if (best == kNoSymbol) return;
      merge(best);
    }
  }

  /// Entries are rank * 2^32 + symbol, so that equal ranks come leftmost first; an entry whose
  /// symbol has another rank by now is stale.
  void run_by_queue() {
    queue_.clear();
    for (uint32_t i = 0; i < symbols_.size(); ++i) enqueue(i);
    std::make_heap(queue_.begin(), queue_.end(), std::greater<>());
    while (!queue_.empty()) {
      std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
      const uint64_t entry = queue_.back();
      queue_.pop_back();
      const auto symbol = static_cast<uint32_t>(entry);
      if (symbols_[symbol].rank != entry >> 32) continue;
      merge(symbol);
      if (enqueue(symbol)) std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
      const uint32_t previous = symbols_[symbol].previous;
      if (previous != kNoSymbol && enqueue(previous)) {
        std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
      }
    }
  }

  bool enqueue(uint32_t symbol) {
    if (symbols_[symbol].rank == kNoRank) return false;
    queue_.push_back(uint64_t{symbols_[symbol].rank} << 32 | symbol);
    return true;
  }

  void merge(uint32_t index) {
    MergeSymbol& left = symbols_[index];
    MergeSymbol& right = symbols_[left.next];
    left.id = left.merged;
    left.to = right.to;
    left.next = right.next;
    right.rank = kNoRank;
    left.rank = kNoRank;
    if (left.next != kNoSymbol) {
      symbols_[left.next].previous = index;
      rule_(left, symbols_[left.next]);
    }
    if (left.previous != kNoSymbol) rule_(symbols_[left.previous], left);
  }

  std::vector<MergeSymbol>& symbols_;
  std::vector<uint64_t>& queue_;
  const Rule& rule_;
};

/// `first_rule` gives the pairs their first ranks; it says what `rule` would, faster.
template <class FirstRule, class Rule>
void merge_symbols(ModelScratch& scratch, const FirstRule& first_rule, const Rule& rule) {
  auto& symbols = scratch.symbols;
  for (size_t i = 0; i + 1 < symbols.size(); ++i) first_rule(symbols[i], symbols[i + 1]);
  Merger<Rule>(scratch.symbols, scratch.queue, rule).run();
}

}  // namespace tandem
