#pragma once

#include <utility>

namespace tandem::kernels {

/// Calls `f.template operator()<i>()` for i = 0 .. n - 1: a loop whose index is a constant, for
/// register arrays and instructions with immediate operands. `f` should be always_inline.
template <int n, class F>
[[gnu::always_inline]] inline void repeat(F&& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (f.template operator()<i>(), ...);
  }
  (std::make_integer_sequence<int, n>{});
}

/// Makes a lambda of `repeat` always inlined.
#define TANDEM_INLINE_LAMBDA __attribute__((always_inline))

}  // namespace tandem::kernels
