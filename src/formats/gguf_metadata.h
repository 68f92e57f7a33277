#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "formats/gguf_cursor.h"
#include "formats/metadata.h"

namespace tandem {

/// A key of one byte and the smallest value.
inline constexpr uint64_t kGgufMinPairBytes = 8 + 1 + 4 + 1;

/// Reads `n_pairs` key/value pairs. `source` is what the metadata calls its file.
Result<Metadata> read_gguf_metadata(GgufCursor& cursor, uint64_t n_pairs, std::string source);

/// Whether `encoded` is one whole array as NestedArray keeps it; kInvalidArgument when it is not.
Result<void> check_nested_array(std::span<const std::byte> encoded);

/// Appends the value's type and bytes as the file holds them. `encoded` arrays must be valid.
void append_gguf_value(std::string& out, const MetadataValue& value);

}  // namespace tandem
