#include "text/tokenizer/piece_spelling.h"

#include <charconv>

#include "text/tokenizer/byte_level.h"

namespace tandem {

void append_piece_bytes(std::string& out, std::string_view text, PieceSpelling spelling) {
  if (spelling == PieceSpelling::kByteLevel && append_bytes_of_spelling(out, text)) return;
  size_t done = 0;
  if (spelling == PieceSpelling::kMarkedSpaces) {
    for (size_t found = text.find(kSpaceMarker); found != std::string_view::npos;
         found = text.find(kSpaceMarker, done)) {
      out.append(text, done, found - done);
      out.push_back(' ');
      done = found + kSpaceMarker.size();
    }
  }
  out.append(text, done);
}

std::string piece_bytes_of(std::string_view text, TokenKind kind, PieceSpelling spelling) {
  const int byte = kind == TokenKind::kByte ? byte_token_value(text) : -1;
  if (byte >= 0) return std::string(1, static_cast<char>(byte));
  const bool literal = kind == TokenKind::kControl || kind == TokenKind::kUnknown ||
                       (kind == TokenKind::kUserDefined && spelling == PieceSpelling::kByteLevel);
  std::string piece;
  append_piece_bytes(piece, text, literal ? PieceSpelling::kPlain : spelling);
  return piece;
}

int byte_token_value(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data() + 3, text.data() + 5, value, 16);
  return error == std::errc() && end == text.data() + 5 && value >= 0 ? value : -1;
}

}  // namespace tandem
