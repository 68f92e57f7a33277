#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/model_file.h"

// The section that holds the low planes of nested weights (docs/nested_format.md).

namespace tandem {

inline constexpr std::string_view kNestedMagic = "TNDM-LOW";
inline constexpr uint32_t kNestedVersion = 1;
inline constexpr uint64_t kNestedHeaderBytes = 32;
inline constexpr uint64_t kNestedAlignment = 64;

inline constexpr std::string_view kNestedVersionKey = "tandem.nested.version";
inline constexpr std::string_view kNestedBytesKey = "tandem.nested.bytes";
inline constexpr std::string_view kNestedTensorsKey = "tandem.nested.tensors";
inline constexpr std::string_view kNestedSidecarKey = "tandem.nested.sidecar";

/// One line of the section's table.
struct LowPlaneEntry {
  std::string name;
  uint32_t shift = 0;   ///< e
  uint64_t offset = 0;  ///< from the section's first byte
  uint64_t n_bytes = 0;
  uint64_t checksum = 0;
};

/// Checks a whole section and returns its table; `source` starts every error. Nothing is used
/// before it was compared with the section's size.
Result<std::vector<LowPlaneEntry>> parse_nested_section(std::string_view source,
                                                        std::span<const std::byte> section);

/// Whether the keys say that low planes belong to the file.
bool describes_low_planes(const Metadata& metadata);

/// What to do when they cannot be used.
enum class MissingPlanes {
  kRefuse,  ///< an error
  kAccept,  ///< the file stays the Q4_0 model that it also is
};

/// Finds the low planes that the keys describe, in the file or its sidecar, and gives each tensor
/// its own (TensorView::nested); a file without the keys is left as it is. The planes' bytes are
/// not read: verify_nested does that. Errors: kCorruptFile naming what is missing or wrong and the
/// way out.
Result<void> attach_low_planes(ModelFile& file, MissingPlanes missing);

}  // namespace tandem
