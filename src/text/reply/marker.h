#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace tandem {

/// Where the first marker stands, or how much text certainly holds none.
struct MarkerHit {
  static constexpr size_t kNone = static_cast<size_t>(-1);
  size_t position;       ///< of the marker, or the length of the text that is free of markers
  size_t index = kNone;  ///< which marker; kNone: text from `position` on may be the start of one
};

/// Finds the first of `markers` in `text`; of two at one place the earlier in the list. When there
/// is none, `position` leaves out the shortest suffix that further text could make a marker; with
/// `is_final` nothing is left out. Empty markers are ignored. No marker may be a prefix of another.
MarkerHit find_marker(std::string_view text, std::span<const std::string_view> markers,
                      bool is_final);

/// White space as the formats use it between their parts: space, tab, newline, carriage return.
bool is_space(char c);
std::string_view trim(std::string_view text);

}  // namespace tandem
