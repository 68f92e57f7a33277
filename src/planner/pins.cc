#include "planner/pins.h"

namespace tandem {

Result<Pin> parse_pin(std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    return failure(ErrorCode::kInvalidArgument,
                   "pin \"{}\" is not of the form PATTERN=DEVICE, such as layers.*.attention=cpu",
                   text);
  }
  return Pin{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

bool matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0;
  size_t star = std::string_view::npos, resume = 0;  // last *, and where its run may grow to
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

const Pin* find_pin(std::span<const Pin> pins, std::string_view node) {
  for (size_t i = pins.size(); i-- > 0;) {
    if (matches(pins[i].pattern, node)) return &pins[i];
  }
  return nullptr;
}

}  // namespace tandem
