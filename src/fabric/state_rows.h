#pragma once

#include <cstdint>

#include "fabric/sequence_state.h"

namespace tandem {

/// Bytes of the keys and values of `n_rows` positions of one state.
size_t state_rows_bytes(const SequenceState& state, StateId id, uint32_t n_rows);

/// Copies the keys and values of positions [first, first + n_rows) out, dense: (n_kv_heads, n_rows,
/// key_size) keys, then as many values.
void save_state_rows(const SequenceState& state, StateId id, uint32_t first, uint32_t n_rows,
                     std::byte* out);
/// The inverse.
void restore_state_rows(SequenceState& state, StateId id, uint32_t first, uint32_t n_rows,
                        const std::byte* in);

}  // namespace tandem
