#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace tandem {

/// Unicode's normalization forms (UAX 15). Decompositions are those of Unicode 15.0; characters
/// that are newer stay as they are.
enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };

/// A stretch of a text and its normal form.
struct NormalizedPiece {
  size_t from;
  size_t to;
  /// Equal to the text's own bytes when nothing changes. Valid during the call only.
  std::string_view text;
  bool changed;
};

/// Whether `text` is certainly in the form already. May say no where it is.
bool is_normalized(std::string_view text, NormalForm form);

/// Hands the pieces of `text`, which cover it in order, to `emit`. Bytes that are not UTF-8 stay.
/// Cost: O(n log n) at worst, for one long run of combining marks.
void normalize(std::string_view text, NormalForm form,
               const std::function<void(const NormalizedPiece&)>& emit);

/// The normal form as a string.
std::string normalized(std::string_view text, NormalForm form);

}  // namespace tandem
