#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tandem {

/// 64-bit content hash (FNV-1a over 8-byte words with a final mix). For identity and damage, not
/// against an adversary. `seed` chains several pieces.
uint64_t content_hash(std::span<const std::byte> bytes, uint64_t seed = 0);

}  // namespace tandem
