// Finding markers in text that is still coming in.

#include "text/reply/marker.h"

#include <array>

namespace tandem {

MarkerHit find_marker(std::string_view text, std::span<const std::string_view> markers,
                      bool is_final) {
  std::array<bool, 256> may_begin{};  // most characters begin no marker
  for (const std::string_view marker : markers) {
    if (!marker.empty()) may_begin[static_cast<unsigned char>(marker.front())] = true;
  }
  for (size_t i = 0; i < text.size(); ++i) {
    if (!may_begin[static_cast<unsigned char>(text[i])]) continue;
    const std::string_view here = text.substr(i);
    for (size_t m = 0; m < markers.size(); ++m) {
      const std::string_view marker = markers[m];
      if (marker.empty()) continue;
      if (here.starts_with(marker)) return {i, m};
      if (!is_final && marker.starts_with(here)) return {i};
    }
  }
  return {text.size()};
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace tandem
