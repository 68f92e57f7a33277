#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tandem {

/// The user's word on where nodes run.
struct Pin {
  std::string pattern;  ///< over node names; * is any run of characters, ? any one
  std::string device;
};

/// "layers.*.attention=cpu". Errors: kInvalidArgument showing the form.
Result<Pin> parse_pin(std::string_view text);

/// Whether the whole of `text` matches.
bool matches(std::string_view pattern, std::string_view text);

/// The pin that holds for a node: the last that matches, or null.
const Pin* find_pin(std::span<const Pin> pins, std::string_view node);

}  // namespace tandem
