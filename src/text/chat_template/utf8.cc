#include "text/chat_template/utf8.h"

// UTF-8 by code point: validation, counting, stepping.

#include <cstdint>

namespace tandem::jinja {
namespace {

bool is_continuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

/// Length of the sequence a first byte announces; 0 for a byte that cannot be first.
size_t sequence_length(uint8_t first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 0;
}

/// Overlong forms, surrogates and code points past U+10FFFF show in the second byte.
bool second_byte_allowed(uint8_t first, uint8_t second) {
  switch (first) {
    case 0xE0:
      return second >= 0xA0;
    case 0xED:
      return second <= 0x9F;
    case 0xF0:
      return second >= 0x90;
    case 0xF4:
      return second <= 0x8F;
    default:
      return true;
  }
}

}  // namespace

size_t find_invalid_utf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const auto first = static_cast<uint8_t>(text[at]);
    const size_t length = sequence_length(first);
    if (length == 0 || length > text.size() - at) return at;
    for (size_t i = 1; i < length; ++i) {
      if (!is_continuation(text[at + i])) return at;
    }
    if (length > 1 && !second_byte_allowed(first, static_cast<uint8_t>(text[at + 1]))) return at;
    at += length;
  }
  return std::string_view::npos;
}

size_t count_code_points(std::string_view text) {
  size_t n = 0;
  for (const char byte : text) n += !is_continuation(byte);
  return n;
}

size_t byte_offset(std::string_view text, size_t index) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (is_continuation(text[at])) continue;
    if (index == 0) return at;
    --index;
  }
  return at;
}

char32_t next_code_point(std::string_view text, size_t& at) {
  const auto first = static_cast<uint8_t>(text[at++]);
  if (first < 0x80) return first;
  const size_t length = sequence_length(first);
  char32_t code_point = first & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length && at < text.size(); ++i) {
    code_point = code_point << 6 | (static_cast<uint8_t>(text[at++]) & 0x3F);
  }
  return code_point;
}

size_t previous_offset(std::string_view text, size_t end) {
  size_t at = end - 1;
  while (at > 0 && is_continuation(text[at])) --at;
  return at;
}

void append_utf8(std::string& text, char32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
    return;
  }
  if (c < 0x800) {
    text += static_cast<char>(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      text += static_cast<char>(0xE0 | c >> 12);
    } else {
      text += static_cast<char>(0xF0 | c >> 18);
      text += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    }
    text += static_cast<char>(0x80 | (c >> 6 & 0x3F));
  }
  text += static_cast<char>(0x80 | (c & 0x3F));
}

std::u32string to_code_points(std::string_view text) {
  std::u32string points;
  points.reserve(text.size());
  for (size_t at = 0; at < text.size();) points += next_code_point(text, at);
  return points;
}

}  // namespace tandem::jinja
