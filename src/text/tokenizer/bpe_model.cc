#include "text/tokenizer/bpe_model.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "text/tokenizer/merge-inl.h"
#include "text/unicode/utf8.h"

// Byte pair encoding as Hugging Face's tokenizer.json and GGUF's merges define it.

namespace tandem {

void MergeTable::reserve(size_t n_merges) {
  const size_t capacity = std::bit_ceil(2 * n_merges + 2);
  slots_.assign(capacity, Slot{});
  shift_ = 64 - static_cast<uint32_t>(std::countr_zero(capacity));
}

void MergeTable::add(TokenId left, TokenId right, Merge merge) {
  size_t slot = slot_of(left, right);
  while (slots_[slot].left != kNoToken) {
    if (slots_[slot].left == left && slots_[slot].right == right) return;
    slot = (slot + 1) & (slots_.size() - 1);
  }
  slots_[slot] = {left, right, merge};
  ++n_merges_;
}

bool MergeTable::add_pieces(const Vocabulary& vocabulary, std::string_view pieces, size_t cut,
                            uint32_t rank) {
  const TokenId left = vocabulary.find(pieces.substr(0, cut));
  const TokenId right = vocabulary.find(pieces.substr(cut));
  const TokenId result = vocabulary.find(pieces);
  if (left == kNoToken || right == kNoToken || result == kNoToken) return false;
  add(left, right, {rank, result});
  return true;
}

BpeModel::BpeModel(const Vocabulary& vocabulary, MergeTable merges, const BpeOptions& options)
    : MergeModel(vocabulary, options.ignore_merges), merges_(std::move(merges)), options_(options) {
  for (size_t i = 0; i < byte_ids_.size(); ++i) {
    const char byte = static_cast<char>(i);
    byte_ids_[i] = vocabulary.find({&byte, 1});
  }
  if (!options.byte_level) return;
  byte_merges_.reserve(byte_ids_.size() * byte_ids_.size());
  for (const TokenId left : byte_ids_) {
    for (const TokenId right : byte_ids_) {
      const bool possible = left != kNoToken && right != kNoToken;
      const MergeTable::Merge* merge = possible ? merges_.find(left, right) : nullptr;
      byte_merges_.push_back(merge ? *merge : MergeTable::Merge{kNoRank, kNoToken});
    }
  }
}

void BpeModel::merge(std::string_view text, ModelScratch& scratch) const {
  scratch.symbols.clear();
  const auto rule = [this](MergeSymbol& left, const MergeSymbol& right) {
    const MergeTable::Merge* merge = merges_.find(left.id, right.id);
    left.rank = merge ? merge->rank : kNoRank;
    left.merged = merge ? merge->result : kNoToken;
  };
  if (!options_.byte_level) {
    start_from_chars(text, scratch);
    merge_symbols(scratch, rule, rule);
    return;
  }
  start_from_bytes(text, scratch);
  const auto byte_rule = [&](MergeSymbol& left, const MergeSymbol& right) {
    const auto left_byte = static_cast<uint8_t>(text[left.from]);
    const auto right_byte = static_cast<uint8_t>(text[right.from]);
    const MergeTable::Merge& merge = byte_merges_[left_byte * byte_ids_.size() + right_byte];
    left.rank = merge.rank;
    left.merged = merge.result;
  };
  merge_symbols(scratch, byte_rule, rule);
}

void BpeModel::start_from_bytes(std::string_view text, ModelScratch& scratch) const {
  for (size_t i = 0; i < text.size(); ++i) {
    const TokenId id = byte_ids_[static_cast<uint8_t>(text[i])];
    if (id != kNoToken) {
      append_symbol(scratch.symbols, id, i, i + 1);
    } else {
      start_unknown(text, i, i + 1, scratch);
    }
  }
}

void BpeModel::start_from_chars(std::string_view text, ModelScratch& scratch) const {
  for (size_t pos = 0; pos < text.size();) {
    const auto byte = static_cast<uint8_t>(text[pos]);
    const size_t end = pos + decode_utf8(text, pos).length;
    const TokenId id =
        byte < 0x80 ? byte_ids_[byte] : vocabulary_.find(text.substr(pos, end - pos));
    if (id != kNoToken) {
      append_symbol(scratch.symbols, id, pos, end);
    } else {
      start_unknown(text, pos, end, scratch);
    }
    pos = end;
  }
}

void BpeModel::start_unknown(std::string_view text, size_t from, size_t to,
                             ModelScratch& scratch) const {
  auto& symbols = scratch.symbols;
  if (options_.byte_fallback) {
    bool complete = true;
    for (size_t i = from; i < to; ++i) {
      complete = complete && vocabulary_.byte_token(static_cast<uint8_t>(text[i])) != kNoToken;
    }
    for (size_t i = from; complete && i < to; ++i) {
      append_symbol(symbols, vocabulary_.byte_token(static_cast<uint8_t>(text[i])), i, i + 1);
    }
    if (complete) return;
  }
  if (options_.unk == kNoToken) return;
  const bool fuse = options_.fuse_unk && !symbols.empty() && symbols.back().id == options_.unk;
  if (fuse) {
    symbols.back().to = static_cast<uint32_t>(to);
  } else {
    append_symbol(symbols, options_.unk, from, to);
  }
}

}  // namespace tandem
