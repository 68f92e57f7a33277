#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "text/unicode/properties.h"

namespace tandem {

/// A set of code points with a look-up of constant cost: a two-level bitmap whose equal pages are
/// stored once.
class CharSet {
 public:
  explicit CharSet(const CharRanges& ranges);

  /// Anything past U+10FFFF (an invalid byte) counts as U+FFFD.
  bool contains(uint32_t code_point) const {
    if (code_point > 0x10FFFF) code_point = 0xFFFD;
    const Page& page = pages_[page_of_[code_point >> 8]];
    return page[code_point >> 6 & 3] >> (code_point & 63) & 1;
  }

 private:
  using Page = std::array<uint64_t, 4>;
  std::vector<uint16_t> page_of_;  ///< (0x1100), by code point / 256
  std::vector<Page> pages_;
};

}  // namespace tandem
