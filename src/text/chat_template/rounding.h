#pragma once

#include "base/result.h"
#include "text/chat_template/value.h"

namespace tandem::jinja {

/// Python's round(value, digits): halves of the exact value go to even; integers stay integers.
Result<Value> rounded(const Value& value, Int digits);

/// The value with `digits` decimals, correctly rounded from its exact binary value.
std::string fixed_text(double value, int digits);

}  // namespace tandem::jinja
