#pragma once

#include <cstdint>

namespace tandem {

/// A row of the vocabulary: what tokenizers make, models embed and samplers choose. Never negative.
using TokenId = int32_t;

}  // namespace tandem
