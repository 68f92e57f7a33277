#pragma once

namespace tandem {

/// Seconds of a clock that never goes back; only differences mean anything.
double monotonic_seconds();

}  // namespace tandem
