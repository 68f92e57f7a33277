#include "text/tokenizer/char_set.h"

#include <algorithm>
#include <map>

namespace tandem {

CharSet::CharSet(const CharRanges& ranges) {
  constexpr size_t kPages = 0x1100;
  std::vector<Page> all(kPages, Page{});
  for (const CharRange& range : ranges) {
    for (uint32_t c = range.first; c <= range.last;) {
      if ((c & 63) == 0 && range.last - c >= 63) {
        all[c >> 8][c >> 6 & 3] = ~uint64_t{0};
        c += 64;
      } else {
        all[c >> 8][c >> 6 & 3] |= uint64_t{1} << (c & 63);
        ++c;
      }
    }
  }
  std::map<Page, uint16_t> seen;
  page_of_.reserve(kPages);
  for (const Page& page : all) {
    const auto [entry, is_new] = seen.emplace(page, static_cast<uint16_t>(pages_.size()));
    if (is_new) pages_.push_back(page);
    page_of_.push_back(entry->second);
  }
}

}  // namespace tandem
