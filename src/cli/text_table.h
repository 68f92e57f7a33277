#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::cli {

/// Terminal columns that UTF-8 text takes: two for Hangul, Han, Kana and emoji, none for combining
/// marks in the usual blocks.
size_t display_width(std::string_view text);

/// Text in columns as wide as their widest cell, two spaces apart.
class TextTable {
 public:
  /// One letter a column: 'l' aligns left, 'r' right.
  explicit TextTable(std::string alignment) : alignment_(std::move(alignment)) {}

  /// As many cells as there are columns.
  void add(std::vector<std::string> row);
  /// Every row on a line of its own after `indent` spaces, without spaces at the end.
  std::string to_string(size_t indent) const;

 private:
  std::string alignment_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tandem::cli
