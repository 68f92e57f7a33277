#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/metadata.h"

namespace tandem {

/// Sets a key from "KEY=VALUE" or "KEY=TYPE:VALUE"; TYPE is str, u32, i32, u64, i64, f32 or bool,
/// or left out for a key that the file has: its type stays. "KEY=" removes the key. Errors:
/// kInvalidArgument naming key, value and type.
Result<void> apply_key_edit(std::string_view text, Metadata& metadata);

/// Sets the positions that sessions get by default. Errors: kInvalidArgument when `n` is 0 or more
/// than the model was trained for (longer contexts need rope scaling, which --kv can set).
Result<void> set_context_window(uint32_t n, Metadata& metadata);

}  // namespace tandem
