#include "text/tokenizer/added_tokens.h"

#include <algorithm>

#include "text/tokenizer/pattern_syntax.h"
#include "text/unicode/properties.h"
#include "text/unicode/utf8.h"

// Finding added tokens in a text, with the stripping rules of Hugging Face's tokenizer.json.

namespace tandem {
namespace {

size_t start_of_last_char(std::string_view text, size_t end) {
  size_t pos = end - 1;
  for (int i = 0; i < 3 && pos > 0 && (static_cast<uint8_t>(text[pos]) & 0xC0) == 0x80; ++i) --pos;
  return pos + decode_utf8(text, pos).length == end ? pos : end - 1;
}

size_t strip_spaces_before(std::string_view text, size_t begin, size_t limit) {
  while (begin > limit) {
    const size_t pos = start_of_last_char(text, begin);
    if (pos < limit || !is_white_space(decode_utf8(text, pos).code_point)) break;
    begin = pos;
  }
  return begin;
}

size_t strip_spaces_after(std::string_view text, size_t end) {
  while (end < text.size()) {
    const DecodedChar c = decode_utf8(text, end);
    if (!is_white_space(c.code_point)) break;
    end += c.length;
  }
  return end;
}

bool is_word_char(uint32_t code_point) {
  const GeneralCategory category = general_category(code_point);
  return (category >= GeneralCategory::kUppercaseLetter &&
          category <= GeneralCategory::kDecimalNumber) ||
         category == GeneralCategory::kLetterNumber ||
         category == GeneralCategory::kConnectorPunctuation;
}

bool stands_alone(std::string_view text, size_t begin, size_t end) {
  if (begin > 0) {
    const size_t before = start_of_last_char(text, begin);
    if (is_word_char(decode_utf8(text, before).code_point)) return false;
  }
  return end == text.size() || !is_word_char(decode_utf8(text, end).code_point);
}

}  // namespace

const uint32_t* TokenTrie::child(uint32_t node, uint8_t byte) const {
  const auto& next = nodes_[node].next;
  const auto found = std::lower_bound(
      next.begin(), next.end(), byte,
      [](const std::pair<uint8_t, uint32_t>& a, uint8_t b) { return a.first < b; });
  return found != next.end() && found->first == byte ? &found->second : nullptr;
}

void TokenTrie::add(std::string_view text, uint32_t value) {
  if (text.empty()) return;
  first_bytes_[static_cast<uint8_t>(text[0])] = true;
  uint32_t node = 0;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (const uint32_t* known = child(node, byte)) {
      node = *known;
      continue;
    }
    const auto added = static_cast<uint32_t>(nodes_.size());
    nodes_.emplace_back();
    auto& next = nodes_[node].next;
    next.insert(std::lower_bound(next.begin(), next.end(), std::pair{byte, uint32_t{0}}),
                {byte, added});
    node = added;
  }
  if (nodes_[node].value == kNoValue) nodes_[node].value = value;
}

std::optional<TokenTrie::Match> TokenTrie::longest_at(std::string_view text, size_t pos) const {
  std::optional<Match> best;
  for_each_at(text, pos, [&](uint32_t value, size_t end) { best = Match{value, end}; });
  return best;
}

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  for (uint32_t i = 0; i < tokens_.size(); ++i) {
    const AddedToken& token = tokens_[i];
    tries_[token.normalized][1].add(token.text, i);
    if (!token.control) tries_[token.normalized][0].add(token.text, i);
  }
}

std::optional<TokenTrie::Match> AddedTokens::longest_at(const TokenTrie& trie,
                                                        std::string_view text, size_t pos,
                                                        const IsLiteral& is_literal) const {
  if (!is_literal) return trie.longest_at(text, pos);
  std::optional<TokenTrie::Match> best;
  trie.for_each_at(text, pos, [&](uint32_t value, size_t end) {
    if (!tokens_[value].control || !is_literal(pos, end)) best = TokenTrie::Match{value, end};
  });
  return best;
}

std::vector<AddedTokens::Part> AddedTokens::split(std::string_view text, bool normalized,
                                                  bool control, const IsLiteral& is_literal) const {
  std::vector<Part> parts;
  const TokenTrie& trie = tries_[normalized][control];
  size_t done = 0;
  for (size_t pos = trie.empty() ? text.size() : 0; pos < text.size();) {
    if (!trie.begins_with(static_cast<uint8_t>(text[pos]))) {
      ++pos;
      continue;
    }
    const auto match = longest_at(trie, text, pos, is_literal);
    if (!match) {
      ++pos;
      continue;
    }
    const AddedToken& token = tokens_[match->value];
    if (token.single_word && !stands_alone(text, pos, match->end)) {
      pos = match->end;
      continue;
    }
    const size_t begin = token.strip_left ? strip_spaces_before(text, pos, done) : pos;
    const size_t end = token.strip_right ? strip_spaces_after(text, match->end) : match->end;
    if (begin > done) parts.push_back({done, begin, nullptr});
    parts.push_back({begin, end, &token});
    done = pos = end;
  }
  if (done < text.size()) parts.push_back({done, text.size(), nullptr});
  return parts;
}

std::optional<TokenId> AddedTokens::find(std::string_view text) const {
  for (const auto& of_kind : tries_) {
    if (text.empty() || of_kind[1].empty()) continue;
    const auto match = of_kind[1].longest_at(text, 0);
    if (match && match->end == text.size()) return tokens_[match->value].id;
  }
  return std::nullopt;
}

}  // namespace tandem
