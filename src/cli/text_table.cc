// Aligned columns for terminals.

#include "cli/text_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "text/unicode/utf8.h"

namespace tandem::cli {
namespace {

struct WidthRange {
  uint32_t first;
  uint32_t last;
  size_t width;
};

/// The blocks that matter in practice; everything else takes one column.
constexpr std::array kWidths{
    WidthRange{0x0300, 0x036f, 0},   WidthRange{0x1100, 0x115f, 2},   WidthRange{0x1160, 0x11ff, 0},
    WidthRange{0x200b, 0x200f, 0},   WidthRange{0x2e80, 0x303e, 2},   WidthRange{0x3041, 0xa4cf, 2},
    WidthRange{0xac00, 0xd7a3, 2},   WidthRange{0xf900, 0xfaff, 2},   WidthRange{0xfe00, 0xfe0f, 0},
    WidthRange{0xfe30, 0xfe6f, 2},   WidthRange{0xff00, 0xff60, 2},   WidthRange{0xffe0, 0xffe6, 2},
    WidthRange{0x1f300, 0x1faff, 2}, WidthRange{0x20000, 0x3fffd, 2},
};

}  // namespace

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t i = 0; i < text.size();) {
    const DecodedChar decoded = decode_utf8(text, i);
    i += decoded.length;
    const auto range = std::find_if(kWidths.begin(), kWidths.end(), [&](const WidthRange& r) {
      return r.first <= decoded.code_point && decoded.code_point <= r.last;
    });
    width += range == kWidths.end() ? 1 : range->width;
  }
  return width;
}

void TextTable::add(std::vector<std::string> row) {
  TANDEM_CHECK(row.size() == alignment_.size());
  rows_.push_back(std::move(row));
}

std::string TextTable::to_string(size_t indent) const {
  std::vector<size_t> widths(alignment_.size());
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], display_width(row[c]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line(indent, ' ');
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string padding(widths[c] - display_width(row[c]), ' ');
      if (c > 0) line += "  ";
      line += alignment_[c] == 'r' ? padding + row[c] : row[c] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace tandem::cli
