#include "text/tokenizer/byte_level.h"

#include <array>
#include <cstdint>

#include "text/unicode/utf8.h"

namespace tandem {
namespace {

constexpr int16_t kNotSpelled = -1;
constexpr size_t kAlphabetEnd = 0x144;

constexpr bool is_printable(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

/// Byte by code point.
constexpr std::array<int16_t, kAlphabetEnd> make_alphabet() {
  std::array<int16_t, kAlphabetEnd> alphabet{};
  for (auto& entry : alphabet) entry = kNotSpelled;
  size_t next = 0x100;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    alphabet[is_printable(byte) ? byte : next++] = static_cast<int16_t>(byte);
  }
  return alphabet;
}

constexpr std::array<int16_t, kAlphabetEnd> kAlphabet = make_alphabet();

}  // namespace

bool append_bytes_of_spelling(std::string& out, std::string_view spelled) {
  const size_t before = out.size();
  for (size_t pos = 0; pos < spelled.size();) {
    const DecodedChar c = decode_utf8(spelled, pos);
    if (c.code_point >= kAlphabetEnd || kAlphabet[c.code_point] == kNotSpelled) {
      out.resize(before);
      return false;
    }
    out.push_back(static_cast<char>(kAlphabet[c.code_point]));
    pos += c.length;
  }
  return true;
}

}  // namespace tandem
