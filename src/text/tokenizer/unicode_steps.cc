#include "text/tokenizer/unicode_steps.h"

#include <memory>
#include <utility>

#include "text/unicode/properties.h"
#include "text/unicode/utf8.h"

namespace tandem {
namespace {

/// A step that maps each character by itself: `map(code_point)` returns nothing to keep it, or what
/// comes in its place.
template <class Map>
Normalizer::Step map_chars(Map map) {
  return [map](NormalizedText& target) -> Result<void> {
    const std::string_view text = target.text();
    NormalizedText::Rewrite rewrite(target);
    bool changed = false;
    size_t kept = 0;
    for (size_t pos = 0; pos < text.size();) {
      const DecodedChar c = decode_utf8(text, pos);
      const size_t next = pos + c.length;
      if (const std::optional<std::string> replacement = map(c.code_point)) {
        rewrite.copy(kept, pos);
        rewrite.put(*replacement, pos, next);
        kept = next;
        changed = true;
      }
      pos = next;
    }
    if (!changed) return {};
    rewrite.copy(kept, text.size());
    rewrite.commit();
    return {};
  };
}

bool is_mark(uint32_t c) {
  const GeneralCategory category = general_category(c);
  return category >= GeneralCategory::kNonspacingMark &&
         category <= GeneralCategory::kEnclosingMark;
}

constexpr uint32_t kZeroWidthJoiner = 0x200D;

}  // namespace

Normalizer::Step to_normal_form(NormalForm form) {
  return [form](NormalizedText& target) -> Result<void> {
    if (is_normalized(target.text(), form)) return {};
    NormalizedText::Rewrite rewrite(target);
    normalize(target.text(), form, [&](const NormalizedPiece& piece) {
      if (piece.changed) {
        rewrite.put(piece.text, piece.from, piece.to);
      } else {
        rewrite.copy(piece.from, piece.to);
      }
    });
    rewrite.commit();
    return {};
  };
}

Normalizer::Step lowercase() {
  return map_chars([](uint32_t c) -> std::optional<std::string> {
    if (c == 0x130) return "i\xCC\x87";  // the one character whose full mapping is longer
    const uint32_t lower = simple_lowercase(c);
    if (lower == c) return std::nullopt;
    std::string out;
    append_utf8(out, lower);
    return out;
  });
}

Normalizer::Step strip(bool left, bool right) {
  return [left, right](NormalizedText& target) -> Result<void> {
    const std::string_view text = target.text();
    size_t begin = text.size();
    size_t end = 0;
    for (size_t pos = 0; pos < text.size();) {
      const DecodedChar c = decode_utf8(text, pos);
      if (!is_white_space(c.code_point)) {
        begin = std::min(begin, pos);
        end = pos + c.length;
      }
      pos += c.length;
    }
    if (!left) begin = 0;
    if (!right) end = text.size();
    if (begin == 0 && end == text.size()) return {};
    NormalizedText::Rewrite rewrite(target);
    if (begin < end) rewrite.copy(begin, end);
    rewrite.commit();
    return {};
  };
}

Normalizer::Step strip_accents() {
  return map_chars([](uint32_t c) -> std::optional<std::string> {
    return is_mark(c) ? std::optional<std::string>("") : std::nullopt;
  });
}

Normalizer::Step nmt() {
  return map_chars([](uint32_t c) -> std::optional<std::string> {
    const bool dropped = (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) ||
                         c == 0x7F || c == 0x8F || c == 0x9F;
    if (dropped) return "";
    const bool space = c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
                       (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                       c == 0xFEFF || c == 0xFFFD;
    return space ? std::optional<std::string>(" ") : std::nullopt;
  });
}

Normalizer::Step replace_pattern(Pattern pattern, std::string to) {
  return [pattern = std::make_shared<const Pattern>(std::move(pattern)),
          to = std::move(to)](NormalizedText& target) -> Result<void> {
    const std::string_view text = target.text();
    Pattern::Scratch scratch(text.size());
    NormalizedText::Rewrite rewrite(target);
    size_t done = 0;
    size_t from = 0;
    while (const auto match = pattern->find(text, from, scratch)) {
      rewrite.copy(done, match->begin);
      rewrite.put(to, match->begin, match->end);
      done = from = match->end;
      if (match->end > match->begin) continue;
      if (from == text.size()) break;
      from += decode_utf8(text, from).length;
    }
    if (scratch.exhausted()) {
      return failure(ErrorCode::kUnsupported,
                     "normalizer: a pattern needs too many steps for a text of {} bytes",
                     text.size());
    }
    rewrite.copy(done, text.size());
    rewrite.commit();
    return {};
  };
}

Normalizer::Step apply_char_map_by_cluster(CharMap map) {
  return [map = std::make_shared<const CharMap>(std::move(map))](
             NormalizedText& target) -> Result<void> {
    constexpr size_t kMaxCluster = 5;
    const std::string_view text = target.text();
    NormalizedText::Rewrite rewrite(target);
    const auto apply = [&](size_t from, size_t to) {
      const auto replacement = map->replacement_of(text.substr(from, to - from));
      if (replacement) rewrite.put(*replacement, from, to);
      return replacement.has_value();
    };
    for (size_t pos = 0; pos < text.size();) {
      size_t end = pos + decode_utf8(text, pos).length;
      while (end < text.size()) {
        const DecodedChar c = decode_utf8(text, end);
        if (!is_mark(c.code_point) && c.code_point != kZeroWidthJoiner) break;
        end += c.length;
      }
      const bool whole = end - pos <= kMaxCluster && apply(pos, end);
      while (!whole && pos < end) {
        const size_t next = pos + decode_utf8(text, pos).length;
        if (!apply(pos, next)) rewrite.copy(pos, next);
        pos = next;
      }
      pos = end;
    }
    rewrite.commit();
    return {};
  };
}

}  // namespace tandem
