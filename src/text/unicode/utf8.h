#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tandem {

/// What a byte that begins no valid sequence decodes to; outside Unicode, so in no class.
inline constexpr uint32_t kInvalidByte = 0x110000;

struct DecodedChar {
  uint32_t code_point;  ///< kInvalidByte when the bytes are not UTF-8
  uint32_t length;      ///< bytes; 1 for an invalid byte
};

/// The sequence at `pos` (< text.size()). Overlong forms, surrogates and values past U+10FFFF are
/// invalid.
DecodedChar decode_utf8_multibyte(std::string_view text, size_t pos);
inline DecodedChar decode_utf8(std::string_view text, size_t pos) {
  const auto lead = static_cast<uint8_t>(text[pos]);
  return lead < 0x80 ? DecodedChar{lead, 1} : decode_utf8_multibyte(text, pos);
}

void append_utf8(std::string& out, uint32_t code_point);
bool is_valid_utf8(std::string_view text);

/// Appends `bytes` as valid UTF-8: each maximal part of a broken sequence becomes one U+FFFD, as
/// the WHATWG Encoding Standard decodes.
void append_valid_utf8(std::string& out, std::string_view bytes);

/// Length of the longest suffix of `bytes` that could still become a character when more bytes
/// follow: 0 to 3.
size_t incomplete_utf8_suffix(std::string_view bytes);

}  // namespace tandem
