// Masks tokens by the scripts of the characters that they write.

#include "engine/script_constraint.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "text/unicode/utf8.h"

namespace tandem {
namespace {

bool is_continuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

/// The characters that begin with the one to three bytes of `prefix`, a valid beginning.
CharRange completions(std::string_view prefix) {
  const auto lead = static_cast<uint8_t>(prefix[0]);
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  uint32_t first = lead & (0xFFu >> (length + 1));
  for (size_t i = 1; i < prefix.size(); ++i) {
    first = first << 6 | (static_cast<uint8_t>(prefix[i]) & 0x3F);
  }
  const auto missing_bits = static_cast<uint32_t>(6 * (length - prefix.size()));
  first <<= missing_bits;
  return {first, first | ((1u << missing_bits) - 1)};
}

}  // namespace

Result<std::unique_ptr<ScriptConstraint>> ScriptConstraint::create(
    const Tokenizer& tokenizer, std::span<const std::string> scripts) {
  CharRanges allowed = unite(script_ranges("Common"), script_ranges("Inherited"));
  for (const std::string& script : scripts) {
    const CharRanges ranges = script_ranges(script);
    if (ranges.empty()) {
      return failure(ErrorCode::kInvalidArgument, "\"{}\" is no known script; known are {}", script,
                     fmt::join(script_names(), ", "));
    }
    allowed = unite(allowed, ranges);
  }
  return std::unique_ptr<ScriptConstraint>(new ScriptConstraint(tokenizer, std::move(allowed)));
}

ScriptConstraint::ScriptConstraint(const Tokenizer& tokenizer, CharRanges allowed)
    : tokenizer_(tokenizer), ranges_(std::move(allowed)), allowed_(ranges_) {
  size_t longest = 0;
  for (TokenId token = 0; token < tokenizer.n_tokens(); ++token) {
    const std::string_view bytes = tokenizer.piece_bytes(token);
    longest = std::max(longest, bytes.size());
    if (!bytes.empty() && is_continuation(bytes[0])) {
      continuing_.push_back(token);
    } else if (!allows(token)) {
      banned_.push_back(token);
    }
  }
  pending_.reserve(4);
  scratch_.reserve(longest + 4);
}

bool ScriptConstraint::can_become_allowed(std::string_view prefix) const {
  const CharRange reach = completions(prefix);
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const CharRange& range) {
    return range.first <= reach.last && reach.first <= range.last;
  });
}

/// Leaves the bytes of an unfinished last character in `text`.
bool ScriptConstraint::writes_allowed_text(std::string& text) const {
  const size_t whole = text.size() - incomplete_utf8_suffix(text);
  for (size_t at = 0; at < whole;) {
    const DecodedChar next = decode_utf8(std::string_view(text).substr(0, whole), at);
    // Invalid bytes are shown as U+FFFD, which belongs to Common.
    if (!allowed_.contains(next.code_point)) return false;
    at += next.length;
  }
  text.erase(0, whole);
  return text.empty() || can_become_allowed(text);
}

/// After the call `scratch_` holds what would be pending after the token.
bool ScriptConstraint::allows(TokenId token) const {
  scratch_ = pending_;
  if (tokenizer_.is_control(token)) return true;
  scratch_ += tokenizer_.piece_bytes(token);
  return writes_allowed_text(scratch_);
}

Result<void> ScriptConstraint::mask(std::span<float> logits) {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  const auto n_logits = static_cast<TokenId>(logits.size());
  for (const TokenId token : banned_) {
    if (token < n_logits) logits[static_cast<size_t>(token)] = kNever;
  }
  for (const TokenId token : continuing_) {
    if (token < n_logits && !allows(token)) logits[static_cast<size_t>(token)] = kNever;
  }
  return {};
}

Result<void> ScriptConstraint::accept(TokenId token) {
  if (!allows(token)) {
    return failure(ErrorCode::kInvalidArgument, "token {} writes a script that is not allowed",
                   token);
  }
  pending_ = scratch_;
  return {};
}

}  // namespace tandem
