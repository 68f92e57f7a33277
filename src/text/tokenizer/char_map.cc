#include "text/tokenizer/char_map.h"

#include <memory>
#include <utility>

#include "text/unicode/utf8.h"

// The double array as Darts-clone lays it out: a unit holds the offset to its children in bits 10
// to 30 (times 256 when bit 9 is set), its label in bits 0 to 7 (bit 31 marks a value instead) and
// in bit 8 whether a value hangs below it.

namespace tandem {
namespace {

uint32_t offset_of(uint32_t unit) { return (unit >> 10) << ((unit & (1U << 9)) >> 6); }
uint32_t label_of(uint32_t unit) { return unit & (1U << 31 | 0xFF); }
bool has_value(uint32_t unit) { return unit >> 8 & 1; }
uint32_t value_of(uint32_t unit) { return unit & ((1U << 31) - 1); }

uint32_t little_endian(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 4; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

}  // namespace

Result<CharMap> CharMap::parse(std::string_view bytes) {
  if (bytes.size() < 4) {
    return failure(ErrorCode::kCorruptFile, "character map: {} bytes are too few", bytes.size());
  }
  const uint32_t trie_bytes = little_endian(bytes, 0);
  if (trie_bytes % 4 != 0 || trie_bytes > bytes.size() - 4) {
    return failure(ErrorCode::kCorruptFile, "character map: a trie of {} bytes in {} bytes",
                   trie_bytes, bytes.size());
  }
  CharMap map;
  for (uint32_t at = 0; at < trie_bytes; at += 4)
    map.units_.push_back(little_endian(bytes, 4 + at));
  map.replacements_ = bytes.substr(4 + trie_bytes);
  return map;
}

std::optional<CharMap::Match> CharMap::longest_at(std::string_view text, size_t pos) const {
  if (units_.empty()) return std::nullopt;
  std::optional<Match> best;
  size_t node = offset_of(units_[0]);
  for (size_t end = pos; end < text.size();) {
    const auto byte = static_cast<uint8_t>(text[end++]);
    node ^= byte;
    if (byte == 0 || node >= units_.size() || label_of(units_[node]) != byte) break;
    const uint32_t unit = units_[node];
    node ^= offset_of(unit);
    if (node >= units_.size()) break;
    if (!has_value(unit)) continue;
    const uint32_t start = value_of(units_[node]);
    const size_t stop = replacements_.find('\0', start);
    if (stop == std::string::npos) continue;
    best = Match{std::string_view(replacements_).substr(start, stop - start), end - pos};
  }
  return best;
}

std::optional<std::string_view> CharMap::replacement_of(std::string_view text) const {
  const auto match = longest_at(text, 0);
  if (!match || match->length != text.size()) return std::nullopt;
  return match->replacement;
}

Normalizer::Step apply_char_map(CharMap map) {
  return [map = std::make_shared<const CharMap>(std::move(map))](
             NormalizedText& target) -> Result<void> {
    const std::string_view text = target.text();
    NormalizedText::Rewrite rewrite(target);
    for (size_t pos = 0; pos < text.size();) {
      if (const auto match = map->longest_at(text, pos)) {
        rewrite.put(match->replacement, pos, pos + match->length);
        pos += match->length;
        continue;
      }
      const size_t end = pos + decode_utf8(text, pos).length;
      rewrite.copy(pos, end);
      pos = end;
    }
    rewrite.commit();
    return {};
  };
}

}  // namespace tandem
