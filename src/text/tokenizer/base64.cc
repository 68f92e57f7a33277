#include "text/tokenizer/base64.h"

#include <cstdint>

namespace tandem {

Result<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  int n_bits = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t value = kAlphabet.find(text[i]);
    if (value == std::string_view::npos) {
      return failure(ErrorCode::kCorruptFile, "base64: byte {:#04x} at {} is not allowed",
                     static_cast<uint8_t>(text[i]), i);
    }
    bits = bits << 6 | static_cast<uint32_t>(value);
    n_bits += 6;
    if (n_bits < 8) continue;
    n_bits -= 8;
    out.push_back(static_cast<char>(bits >> n_bits & 0xFF));
  }
  return out;
}

}  // namespace tandem
