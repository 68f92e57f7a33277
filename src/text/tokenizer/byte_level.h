#pragma once

#include <string>
#include <string_view>

namespace tandem {

/// GPT-2's spelling of bytes as printable characters, in which vocabularies and merges are stored:
/// printable Latin-1 stands for itself, the other 68 bytes are U+0100 and up in byte order.

/// Appends the bytes that `spelled` stands for. False, with nothing appended, when it has a
/// character outside the alphabet.
bool append_bytes_of_spelling(std::string& out, std::string_view spelled);

}  // namespace tandem
