#pragma once

#include <memory>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "sources/stored_tensor.h"

namespace tandem {

/// Reads the tensor table of one safetensors file:
///
///   byte 0   n u64        length of the header, at most 100 MB
///   byte 8   JSON         {"name": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]},
///   ...} byte 8+n data         each tensor at its offsets, which count from here
///
/// Nothing is trusted: the header is one JSON object, names are unique, sizes follow from type and
/// shape, and the data are covered from the first byte to the last without gap or overlap, as the
/// format demands. A type we do not know is kUnsupported naming tensor and type; all else is
/// kCorruptFile. Returned in the order of their data.
Result<std::vector<StoredTensor>> parse_safetensors(const std::shared_ptr<const MappedFile>& file);

}  // namespace tandem
