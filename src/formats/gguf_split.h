#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf_part.h"

namespace tandem {

/// What a part says of its place in a split model (split.no, split.count, split.tensors.count).
struct GgufSplit {
  uint32_t number = 0;  ///< from 0
  uint32_t count = 1;
  uint32_t n_tensors = 0;  ///< of all parts together
};

/// Nothing when the file holds a whole model. An error when it is several parts joined into one.
Result<std::optional<GgufSplit>> read_gguf_split(const GgufPart& part);

/// "m-00002-of-00003.gguf" taken apart.
struct GgufPartName {
  std::string prefix;   ///< "m", with its folder
  uint32_t number = 0;  ///< from 0, one less than in the name
  uint32_t count = 0;

  static std::optional<GgufPartName> parse(std::string_view path);
  /// The path of another part of the same model.
  std::string path_of(uint32_t number) const;
};

/// Opens the siblings of `opened`, a part with the given place, and returns all parts in order.
/// Errors: kNotFound naming the missing files, before any sibling is read; kCorruptFile when names,
/// split keys, tensor count or tensor names of the parts disagree.
Result<std::vector<GgufPart>> open_gguf_siblings(GgufPart opened, const GgufSplit& split);

}  // namespace tandem
