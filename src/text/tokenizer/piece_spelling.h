#pragma once

#include <string>
#include <string_view>

#include "text/tokenizer/vocabulary.h"

namespace tandem {

/// SentencePiece writes a space as this character, U+2581.
inline constexpr std::string_view kSpaceMarker = "\xE2\x96\x81";

/// How a file spells the bytes of its tokens.
enum class PieceSpelling {
  kPlain,         ///< as they are
  kByteLevel,     ///< in GPT-2's byte alphabet (byte_level.h)
  kMarkedSpaces,  ///< with kSpaceMarker for a space
};

/// Appends the bytes that an ordinary token spelled `text` stands for.
void append_piece_bytes(std::string& out, std::string_view text, PieceSpelling spelling);

/// The bytes of a token of this kind: byte tokens are "<0x41>", control tokens always plain.
std::string piece_bytes_of(std::string_view text, TokenKind kind, PieceSpelling spelling);

/// The value of "<0x41>", or -1.
int byte_token_value(std::string_view text);

}  // namespace tandem
