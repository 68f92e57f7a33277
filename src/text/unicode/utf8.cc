#include "text/unicode/utf8.h"

#include <algorithm>

// UTF-8 decoding after table 3-7 of the Unicode Standard ("well-formed byte sequences").

namespace tandem {
namespace {

/// What may follow a lead byte: how many bytes, and the range of the second one.
struct Lead {
  uint32_t n_following = 0;  ///< 0: not a lead byte
  uint8_t second_min = 0x80;
  uint8_t second_max = 0xBF;
};

Lead classify_lead(uint8_t lead) {
  if (lead < 0xC2 || lead > 0xF4) return {};
  if (lead < 0xE0) return {1};
  if (lead == 0xE0) return {2, 0xA0, 0xBF};
  if (lead == 0xED) return {2, 0x80, 0x9F};
  if (lead < 0xF0) return {2};
  if (lead == 0xF0) return {3, 0x90, 0xBF};
  if (lead == 0xF4) return {3, 0x80, 0x8F};
  return {3};
}

/// Bytes at `pos` that agree with a well-formed sequence, and how many one would need.
struct Prefix {
  uint32_t length;
  uint32_t needed;
};

Prefix well_formed_prefix(std::string_view text, size_t pos) {
  const Lead lead = classify_lead(static_cast<uint8_t>(text[pos]));
  if (lead.n_following == 0) return {0, 0};
  uint32_t length = 1;
  while (length <= lead.n_following && pos + length < text.size()) {
    const auto byte = static_cast<uint8_t>(text[pos + length]);
    const uint8_t low = length == 1 ? lead.second_min : 0x80;
    const uint8_t high = length == 1 ? lead.second_max : 0xBF;
    if (byte < low || byte > high) break;
    ++length;
  }
  return {length, lead.n_following + 1};
}

}  // namespace

DecodedChar decode_utf8_multibyte(std::string_view text, size_t pos) {
  const Prefix prefix = well_formed_prefix(text, pos);
  if (prefix.length == 0 || prefix.length < prefix.needed) return {kInvalidByte, 1};
  constexpr uint32_t kLeadBits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  uint32_t value = static_cast<uint8_t>(text[pos]) & kLeadBits[prefix.needed];
  for (uint32_t i = 1; i < prefix.needed; ++i) {
    value = value << 6 | (static_cast<uint8_t>(text[pos + i]) & 0x3F);
  }
  return {value, prefix.needed};
}

void append_utf8(std::string& out, uint32_t code_point) {
  const auto tail = [&](uint32_t shift) {
    out.push_back(static_cast<char>(0x80 | (code_point >> shift & 0x3F)));
  };
  if (code_point < 0x80) {
    out.push_back(static_cast<char>(code_point));
  } else if (code_point < 0x800) {
    out.push_back(static_cast<char>(0xC0 | code_point >> 6));
    tail(0);
  } else if (code_point < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | code_point >> 12));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0 | code_point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

bool is_valid_utf8(std::string_view text) {
  for (size_t pos = 0; pos < text.size();) {
    const DecodedChar c = decode_utf8(text, pos);
    if (c.code_point == kInvalidByte) return false;
    pos += c.length;
  }
  return true;
}

void append_valid_utf8(std::string& out, std::string_view bytes) {
  size_t copied = 0;
  for (size_t pos = 0; pos < bytes.size();) {
    const DecodedChar c = decode_utf8(bytes, pos);
    if (c.code_point != kInvalidByte) {
      pos += c.length;
      continue;
    }
    out.append(bytes, copied, pos - copied);
    out.append("\xEF\xBF\xBD");
    pos += std::max<uint32_t>(1, well_formed_prefix(bytes, pos).length);
    copied = pos;
  }
  out.append(bytes, copied);
}

size_t incomplete_utf8_suffix(std::string_view bytes) {
  for (size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
    const size_t pos = bytes.size() - back;
    const auto byte = static_cast<uint8_t>(bytes[pos]);
    if (byte < 0x80) return 0;
    if (byte < 0xC0) continue;
    const Prefix prefix = well_formed_prefix(bytes, pos);
    return prefix.length == back && prefix.length < prefix.needed ? back : 0;
  }
  return 0;
}

}  // namespace tandem
