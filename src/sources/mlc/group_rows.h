#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "sources/row_reader.h"

namespace tandem {

/// One of MLC's group quantizations. Along a row, K elements are cut into groups that share a
/// scale; a 32-bit word holds 32 / bits elements, the first one in the lowest bits, and no group
/// shares a word with another. An element's code q stands for (q - max) * scale with
/// max = 2^(bits-1) - 1; codes go from 0 to 2 * max. K is filled up to whole groups.
struct GroupQuantization {
  std::string_view name;
  uint32_t bits;
  uint32_t group_size;
  /// Linear layers are stored as [words, N] instead of [N, words]; embeddings never are.
  bool transposes_linear;

  uint32_t per_word() const { return 32 / bits; }
  uint32_t words_per_group() const { return group_size / per_word(); }
  int max() const { return (1 << (bits - 1)) - 1; }
};

/// By the name in mlc-chat-config.json: "q4f16_1"; nothing when it is none of the group kind.
std::optional<GroupQuantization> group_quantization_by_name(std::string_view name);

/// A matrix of N rows by K in words and scales, both owned by their files:
///   words   U32, [N, G * words_per_group]   scales   F16, BF16 or F32, [N, G]   G = ceil(K /
///   group)
/// or both transposed. Shapes must have been checked. Rows of a code over 2 * max are refused.
/// Exact type: Q4_0 for 4 bits, groups of 32, F16 scales and whole groups (the same scales, codes
/// one higher); F32 otherwise.
struct GroupRowsOptions {
  StoredTensor words;
  StoredTensor scales;
  GroupQuantization format;
  bool transposed;
  uint64_t row_length;  ///< K
  RowOrder order;
};
std::unique_ptr<const RowReader> group_rows(GroupRowsOptions options);

}  // namespace tandem
