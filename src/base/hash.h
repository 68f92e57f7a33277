#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tandem {

/// 64-bit content hash (FNV-1a over 8-byte words with a final mix). For identity and damage, not
/// against an adversary. `seed` chains several pieces.
uint64_t content_hash(std::span<const std::byte> bytes, uint64_t seed = 0);

/// 64-bit checksum against damage alone, as fast as memory is read: running sums of words and of
/// those sums (Fletcher, IEEE Trans. Commun. 30, 1982), eight of them side by side.
uint64_t damage_checksum(std::span<const std::byte> bytes);

}  // namespace tandem
