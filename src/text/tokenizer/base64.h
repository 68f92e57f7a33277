#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tandem {

/// Errors: kCorruptFile naming the first character that is none of the alphabet.
Result<std::string> decode_base64(std::string_view text);

}  // namespace tandem
