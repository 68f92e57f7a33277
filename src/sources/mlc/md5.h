#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tandem {

/// The MD5 digest (RFC 1321) in lower-case hexadecimal, for files whose makers give one. Finds
/// damage; it is no protection against an adversary.
std::string md5_hex(std::span<const std::byte> bytes);

}  // namespace tandem
